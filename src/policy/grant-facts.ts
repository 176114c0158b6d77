// What a decision on a RepositoryGrant is made from, and what comes out. Facts only: nothing here is looked up later.

export const accessLevels = ['read', 'write', 'admin'] as const
export type AccessLevel = (typeof accessLevels)[number]

export type SubjectKind = 'ServiceAccount' | 'RemoteSync' | 'AppPipeline'

export type GrantFacts = {
  /** The repositories, by numeric id: names can come to mean another repository. */
  readonly repositoryIds: readonly number[]
  readonly permissions: Readonly<Record<string, AccessLevel>>
  readonly subjects: readonly { readonly kind: SubjectKind; readonly name: string }[]
}

export type GrantDecision = {
  readonly decision: 'Approved' | 'Denied' | 'WaitingForApproval'
  /** The ids of the rules that decided, for the person who asks why. */
  readonly rule: string
  /** For a person: what was decided and because of what. */
  readonly reason: string
}

/** One thing that is asked for; a grant is all combinations of its subjects, repositories and permissions. */
export type Atom = {
  readonly subject: SubjectKind
  readonly repositoryId: number
  readonly permission: string
  readonly level: AccessLevel
}

export function atomsOf(facts: GrantFacts): readonly Atom[] {
  const kinds = [...new Set(facts.subjects.map(subject => subject.kind))]
  const permissions = Object.entries(facts.permissions).sort(([a], [b]) => (a < b ? -1 : 1))
  return kinds.flatMap(subject =>
    facts.repositoryIds.flatMap(repositoryId =>
      permissions.map(([permission, level]) => ({ subject, repositoryId, permission, level })),
    ),
  )
}
