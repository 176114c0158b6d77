// What it means for a kind to follow a repository. A kind that declares it (`followsRepository` in its definition) is woken by webhooks, has
// its requester pinned by admission, is counted by the tenant's quota, gets a RepositoryGrant of its own and a place in the tenant roles,
// without a line of its own in any of those. Data and types only; `registry.ts` lists the kinds.
import type { Condition, KubeObject, ObjectMeta } from './resource.ts'
import { objectName, type PermissionLevel, repositoryName, requestedByField } from './schema/fields.ts'
import { optional, text } from './schema/schema.ts'

/** The fields of `spec` that every such kind has, under these names. */
export const followerFields = {
  installation: objectName('The Installation in this namespace through which GitHub is reached.'),
  repository: text({ description: 'The repository, as owner/name.', max: 140, pattern: repositoryName }),
  requestedBy: requestedByField,
}

/** The fields of `status` that every such kind has. */
export const followerStatusFields = {
  grant: optional(text({ description: 'The RepositoryGrant that this object owns and uses.', max: 253 })),
}

/** What events of the repository concern an object: pushes to one branch, events of one pull request or of every one. */
export type FollowedSource = {
  readonly branch?: string | undefined
  readonly pullRequest?: number | 'every' | undefined
}

export type FollowsRepository<Spec = unknown> = {
  source(spec: Spec): FollowedSource
  /** What the owned grant requests beside `contents: read` and `metadata: read`. */
  permissions(spec: Spec): Readonly<Record<string, PermissionLevel>>
  /** Completes “RemoteSync shop …” in the grant's reason, which the audit log keeps: “builds Application shop”. */
  purpose(spec: Spec): string
}

export type FollowerSpec = { readonly installation: string; readonly repository: string; readonly requestedBy: string }

/** An object of any kind that follows a repository. */
export type RepositoryFollower = KubeObject & {
  readonly metadata: ObjectMeta
  readonly spec: FollowerSpec
  readonly status?: { readonly grant?: string; readonly conditions?: readonly Condition[] }
}

/** Why such an object waits for its grant. */
export const followerReasons = {
  waitingForGrant: 'WaitingForGrant',
  grantDenied: 'GrantDenied',
  grantConflict: 'GrantConflict',
} as const
