// The levels of GitHub App permissions and their one order: read < write < admin. Pure. Everything that compares what was
// requested, what was granted and what a ceiling allows does it here, so that an unknown level fails closed everywhere.
// Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app (schema `app-permissions`)
import { type PermissionLevel, permissionLevels } from '../api/schema/fields.ts'

export { type PermissionLevel, permissionLevels }

/** Permission → level, as GitHub and the manifests write it. */
export type Permissions = Readonly<Record<string, string>>

/** The permissions that do not have exactly the levels read and write. */
const ownLevels: Readonly<Record<string, readonly PermissionLevel[]>> = {
  enterprise_custom_properties_for_organizations: ['read', 'write', 'admin'],
  organization_custom_properties: ['read', 'write', 'admin'],
  organization_events: ['read'],
  organization_plan: ['read'],
  organization_projects: ['read', 'write', 'admin'],
  profile: ['write'],
  repository_projects: ['read', 'write', 'admin'],
  workflows: ['write'],
}

/** The levels that GitHub has for a permission, lowest first. */
export function levelsOf(permission: string): readonly PermissionLevel[] {
  return (Object.hasOwn(ownLevels, permission) ? ownLevels[permission] : undefined) ?? ['read', 'write']
}

/** True for a level that GitHub has today. */
export function isPermissionLevel(text: string | undefined): text is PermissionLevel {
  return permissionLevels.some(level => level === text)
}

/** The level's place in the order: 0 for no permission at all, and above every known level for one that GitHub may add later. */
export function permissionRank(level: string | undefined): number {
  if (level === undefined) return 0
  return isPermissionLevel(level) ? permissionLevels.indexOf(level) + 1 : permissionLevels.length + 1
}

/** An unknown `level` is above every limit; an unknown `limit` allows nothing. */
export function isWithinLevel(level: string, limit: string | undefined): boolean {
  return (limit === undefined || isPermissionLevel(limit)) && permissionRank(level) <= permissionRank(limit)
}

/** The lower of two levels. */
export function lowerLevel(a: PermissionLevel, b: PermissionLevel): PermissionLevel {
  return permissionRank(a) <= permissionRank(b) ? a : b
}

/** The highest level of a set of permissions; undefined for none. */
export function highestLevel(permissions: Readonly<Record<string, PermissionLevel>>): PermissionLevel | undefined {
  return permissionLevels.findLast(level => Object.values(permissions).includes(level))
}

/**
 * The first permission of `requested` that `limit` does not contain, such as `contents: write`; undefined when all are contained.
 * `metadata: read` is contained in every limit: GitHub adds it to every token, and it reads no content.
 */
export function permissionAbove(requested: Permissions, limit: Permissions): string | undefined {
  const above = Object.entries(requested).find(
    ([name, level]) => !isWithinLevel(level, limit[name] ?? (name === 'metadata' ? 'read' : undefined)),
  )
  return above && `${above[0]}: ${above[1]}`
}
