// What a grant or a rule is about, in one line for people.
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'

/** `contents: read, statuses: write`. */
export function permissionsText(permissions: RepositoryGrant['spec']['permissions']): string {
  return Object.entries(permissions)
    .map(([name, level]) => `${name}: ${level}`)
    .join(', ')
}

/** `ServiceAccount release, Application shop`. */
export function subjectsText(subjects: RepositoryGrant['spec']['subjects']): string {
  return subjects.map(({ kind, name }) => `${kind} ${name}`).join(', ')
}

/** `, pushing to refs/tags/v*`; empty for a grant that names no refs. */
export function refsText(refs: readonly string[] | undefined): string {
  return refs === undefined ? '' : `, pushing to ${refs.join(', ')}`
}
