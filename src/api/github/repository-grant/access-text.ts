// What a grant or a rule is about, in one line for people: on the command line and on pages. Pure.
import type { RepositoryGrant } from '../repository-grant.ts'

/** `contents: read, statuses: write`, also of what a record says. */
export function permissionsText(permissions: Readonly<Record<string, unknown>>): string {
  return Object.entries(permissions)
    .map(([name, level]) => `${name}: ${String(level)}`)
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
