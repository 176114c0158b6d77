// Who may do what: the only source of access decisions for REST, git and the pages, as pure functions of the state and the
// actor. GitHub, "About authentication with a GitHub App": an installation token reaches installation ∩ token; a user token of
// an App reaches App ∩ installation ∩ person; a personal token and a browser session reach what the person reaches.
import type { Organization, OrganizationMembership, RepositoryRole, Team, User } from './accounts.ts'
import { repositoryRoles } from './accounts.ts'
import type { App, Installation, PermissionLevel } from './apps.ts'
import { permissionLevels } from './apps.ts'
import type { InstallationToken, UserToken } from './credentials.ts'
import { type GitHubState, installationOf, organizationById } from './github-state.ts'
import type { Repository } from './repositories.ts'

export type Actor =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app'; readonly app: App }
  | { readonly kind: 'installation'; readonly app: App; readonly installation: Installation; readonly token: InstallationToken }
  | { readonly kind: 'user'; readonly user: User; readonly app: App; readonly token: UserToken }
  | { readonly kind: 'person'; readonly user: User }

function levelRank(level: PermissionLevel): number {
  return permissionLevels.indexOf(level)
}

function roleRank(role: RepositoryRole): number {
  return repositoryRoles.indexOf(role)
}

/** Whether the level `held` is at least `wanted`. */
export function atLeast(held: PermissionLevel, wanted: PermissionLevel): boolean {
  return levelRank(held) >= levelRank(wanted)
}

/** Whether the role `held` is at least `wanted`. */
export function roleAtLeast(held: RepositoryRole, wanted: RepositoryRole): boolean {
  return roleRank(held) >= roleRank(wanted)
}

function weaker(left: PermissionLevel, right: PermissionLevel): PermissionLevel {
  return atLeast(left, right) ? right : left
}

function stronger(left: RepositoryRole, right: RepositoryRole): RepositoryRole {
  return roleAtLeast(left, right) ? left : right
}

export function membershipOf(organization: Organization, userId: number): OrganizationMembership | undefined {
  return organization.memberships.find(one => one.userId === userId)
}

/** Whether the person administers the account: it is their own, or they are an active owner of the organization. */
export function administers(state: GitHubState, userId: number, accountId: number): boolean {
  if (accountId === userId) return true
  const organization = organizationById(state, accountId)
  const membership = organization && membershipOf(organization, userId)
  return membership?.role === 'admin' && membership.state === 'active'
}

/**
 * The strongest role by teams: a member of a child team has what each of its ancestors was granted. A cycle in the tree ends
 * the walk.
 */
function roleByTeams(state: GitHubState, userId: number, repository: Repository): RepositoryRole {
  let role: RepositoryRole = 'none'
  for (const team of state.teams.filter(one => one.members.some(member => member.userId === userId))) {
    const seen = new Set<number>()
    let at: Team | undefined = team
    while (at && !seen.has(at.id)) {
      const { id, parentId }: Team = at
      seen.add(id)
      const given = at.repositories.find(one => one.repositoryId === repository.id)
      if (given) role = stronger(role, given.role)
      at = state.teams.find(one => one.id === parentId)
    }
  }
  return role
}

/**
 * The person's own role on a repository; with `none` a public repository is still visible, see {@link canSee}.
 * https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories
 */
export function repositoryRole(state: GitHubState, userId: number, repository: Repository): RepositoryRole {
  if (repository.ownerId === userId) return 'admin'
  let role = repository.collaborators.find(one => one.userId === userId)?.role ?? 'none'
  const organization = organizationById(state, repository.ownerId)
  const membership = organization && membershipOf(organization, userId)
  if (!organization || membership?.state !== 'active') return role
  if (membership.role === 'admin') return 'admin'
  role = stronger(role, organization.basePermission)
  return stronger(role, roleByTeams(state, userId, repository))
}

/** As {@link repositoryRole}, but every signed-in person can read a public repository and open issues and pull requests there. */
function effectiveRole(state: GitHubState, userId: number, repository: Repository): RepositoryRole {
  return repository.private
    ? repositoryRole(state, userId, repository)
    : stronger(repositoryRole(state, userId, repository), 'read')
}

/** The level of an App permission that corresponds to a repository role. */
function roleAsLevel(role: RepositoryRole, permission: string): PermissionLevel {
  if (!roleAtLeast(role, 'read')) return 'none'
  if (permission === 'metadata') return 'read'
  if (permission === 'administration') return role === 'admin' ? 'write' : 'none'
  // A person who can read a repository can open issues and pull requests in it and comment.
  if (permission === 'issues' || permission === 'pull_requests') return 'write'
  return roleAtLeast(role, 'write') ? 'write' : 'read'
}

/** Whether the installation includes the repository. */
export function installationSelects(installation: Installation, repository: Repository): boolean {
  return (
    installation.accountId === repository.ownerId &&
    (installation.repositorySelection === 'all' || installation.repositoryIds.includes(repository.id))
  )
}

/** Whether an installation that is not suspended includes the repository. */
export function installationCovers(installation: Installation, repository: Repository): boolean {
  return installation.suspendedAt === null && installationSelects(installation, repository)
}

/** The level at which the actor holds `permission` on the repository, apart from public access. */
export function permissionOn(state: GitHubState, actor: Actor, repository: Repository, permission: string): PermissionLevel {
  switch (actor.kind) {
    case 'anonymous':
    case 'app':
      return 'none'
    case 'installation': {
      if (!installationCovers(actor.installation, repository)) return 'none'
      if (actor.token.repositoryIds && !actor.token.repositoryIds.includes(repository.id)) return 'none'
      return weaker(actor.token.permissions[permission] ?? 'none', actor.installation.permissions[permission] ?? 'none')
    }
    case 'user': {
      const installation = installationOf(state, actor.app.id, repository.ownerId)
      if (!installation || !installationCovers(installation, repository)) return 'none'
      const personal = roleAsLevel(effectiveRole(state, actor.user.id, repository), permission)
      return weaker(installation.permissions[permission] ?? 'none', personal)
    }
    case 'person':
      return roleAsLevel(effectiveRole(state, actor.user.id, repository), permission)
  }
}

/** Whether the actor may know that the repository exists; the response for one who may not must be 404, never 403. */
export function canSee(state: GitHubState, actor: Actor, repository: Repository): boolean {
  return !repository.private || permissionOn(state, actor, repository, 'metadata') !== 'none'
}

export type Need = { readonly permission: string; readonly level: Exclude<PermissionLevel, 'none'> }

/** Whether the actor has the permission; reading a public repository needs none. */
export function mayUse(state: GitHubState, actor: Actor, repository: Repository, need: Need): boolean {
  return (
    (need.level === 'read' && !repository.private) || atLeast(permissionOn(state, actor, repository, need.permission), need.level)
  )
}

/** The level at which the actor holds an organization permission (`members`, ...). */
export function permissionOnOrganization(
  state: GitHubState,
  actor: Actor,
  organization: Organization,
  permission: string,
): PermissionLevel {
  const personal = (userId: number): PermissionLevel => {
    const membership = membershipOf(organization, userId)
    if (membership?.state !== 'active') return 'none'
    if (membership.role === 'admin') return 'write'
    // Of an organization it is the right to make repositories.
    if (permission === 'administration' && organization.membersCanCreateRepositories !== false) return 'write'
    // Only owners may read the settings of an organization.
    return permission === 'organization_administration' ? 'none' : 'read'
  }
  switch (actor.kind) {
    case 'anonymous':
    case 'app':
      return 'none'
    case 'installation': {
      if (actor.installation.accountId !== organization.id || actor.installation.suspendedAt !== null) return 'none'
      return weaker(actor.token.permissions[permission] ?? 'none', actor.installation.permissions[permission] ?? 'none')
    }
    case 'user': {
      const installation = installationOf(state, actor.app.id, organization.id)
      if (!installation || installation.suspendedAt !== null) return 'none'
      return weaker(installation.permissions[permission] ?? 'none', personal(actor.user.id))
    }
    case 'person':
      return personal(actor.user.id)
  }
}

/** The account that the actor writes as: the person, or the App's bot. */
export function actingUserId(actor: Actor): number | undefined {
  switch (actor.kind) {
    case 'anonymous':
      return undefined
    case 'app':
    case 'installation':
      return actor.app.botId
    case 'user':
    case 'person':
      return actor.user.id
  }
}
