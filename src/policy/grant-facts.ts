// The input and the result of a decision on a RepositoryGrant. Values only: nothing here is read later.
import type { RepositoryGrant } from '../api/github/repository-grant.ts'
import { compareText } from '../lib/text/compare-text.ts'
import type { PermissionLevel } from './permission-level.ts'

/** The kinds of subjects that a grant can name. */
export type SubjectKind = RepositoryGrant['spec']['subjects'][number]['kind']

/** What is to be decided; names of subjects do not count, only their kinds. */
export type GrantFacts = {
  /** The repositories, by numeric id: a name can come to mean another repository. */
  readonly repositoryIds: readonly number[]
  /** Their present names, for the explanation only. */
  readonly repositoryNames?: ReadonlyMap<number, string>
  readonly permissions: Readonly<Record<string, PermissionLevel>>
  readonly subjects: readonly { readonly kind: SubjectKind; readonly name: string }[]
}

/** The decision on a whole grant. */
export type GrantDecision = {
  readonly decision: 'Approved' | 'Denied'
  /** The ids of the rules that decided, or `nothing-asked`, or `no-rule-allows`. */
  readonly rule: string
  /** A sentence for people: what was decided and because of what. */
  readonly reason: string
}

/** One permission on one repository for one kind of subject: what a rule allows or denies. */
export type Atom = {
  readonly subject: SubjectKind
  readonly repositoryId: number
  readonly permission: string
  readonly level: PermissionLevel
}

/**
 * All combinations of the kinds of subjects, the repositories and the permissions of a grant; permissions in alphabetical
 * order.
 */
export function atomsOf(facts: GrantFacts): readonly Atom[] {
  const kinds = [...new Set(facts.subjects.map(subject => subject.kind))]
  const permissions = Object.entries(facts.permissions).sort(([a], [b]) => compareText(a, b))
  return kinds.flatMap(subject =>
    facts.repositoryIds.flatMap(repositoryId =>
      permissions.map(([permission, level]) => ({ subject, repositoryId, permission, level })),
    ),
  )
}
