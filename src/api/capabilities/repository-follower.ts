// What it means for a kind to follow a repository. For a kind that declares `followsRepository` in its definition, webhooks
// wake its objects, admission enforces the requester, the quota of the tenant counts it, each object owns a RepositoryGrant,
// and the tenant roles include it, without code of its own in any of these places. Data and types only; `registry.ts` lists the
// kinds.
import { defineReasons } from '../reasons/reason.ts'
import type { Condition, KubeObject, ObjectMeta } from '../resource.ts'
import { numericId, objectName, type PermissionLevel, repositoryName, requestedByField } from '../schema/fields.ts'
import { object, optional, text } from '../schema/schema.ts'

/** The fields of `spec` that every such kind has, under these names. */
export const followerFields = {
  installation: objectName('The name of the Installation in this namespace that contains the repository.'),
  repository: text({ description: 'The repository as `owner/name`, such as `acme/shop`.', max: 140, pattern: repositoryName }),
  requestedBy: requestedByField,
}

/** The fields of `status` that every such kind has. */
export const followerStatusFields = {
  grant: optional(
    text({
      description:
        'The name of the RepositoryGrant that the platform created for this object. It gives access to the repository.',
      max: 253,
    }),
  ),
  repository: optional(
    object(
      {
        id: numericId('The numeric id of the repository on GitHub, which never changes.'),
        name: text({ description: 'Its present name as `owner/name`.', max: 300 }),
        requested: text({ description: 'The value of `spec.repository` that named it.', max: 140 }),
      },
      {
        description:
          'The repository that is followed. It stays the same when it is renamed, when its owner is renamed, and when another repository takes its name; a change of `spec.repository` names a new repository.',
      },
    ),
  ),
}

/**
 * Which events of the repository affect an object: pushes to one branch or to the default branch, whichever that is, events of
 * one pull request or of every one, and changes of what people may do with the repository.
 */
export type FollowedSource = {
  readonly branch?: string | undefined
  /** The name that GitHub gave to `branch` since. */
  readonly renamedTo?: string
  readonly defaultBranch?: boolean
  readonly pullRequest?: number | 'every' | undefined
  readonly access?: boolean
}

/** What the status of such an object may say about the branch, the pull request, or the pull requests, that it follows. */
export type FollowedNow = {
  readonly renamedBranch?: { readonly from: string; readonly to: string }
  readonly pullRequest?: { readonly baseBranch: string }
  readonly previews?: readonly { readonly state: string }[]
}

/** How a kind that follows a repository reads its own `spec`. */
export type FollowsRepository<Spec = unknown> = {
  source(spec: Spec, status: FollowedNow | undefined): FollowedSource
  /** What the owned grant requests beside `contents: read` and `metadata: read`. */
  permissions(spec: Spec): Readonly<Record<string, PermissionLevel>>
  /** Completes “RemoteSync shop …” in the grant's reason, which the audit log keeps: “builds Application shop”. */
  purpose(spec: Spec): string
}

/** The fields of `followerFields`. */
export type FollowerSpec = { readonly installation: string; readonly repository: string; readonly requestedBy: string }

/** An object of any kind that follows a repository. */
export type RepositoryFollower = KubeObject & {
  readonly metadata: ObjectMeta
  readonly spec: FollowerSpec
  readonly status?: FollowedNow & {
    readonly grant?: string
    readonly repository?: { readonly id: number; readonly name: string; readonly requested: string }
    readonly conditions?: readonly Condition[]
  }
}

/** The repository that the object follows by its id; undefined before it is known, and after `spec.repository` was changed. */
export function followedRepository({
  spec,
  status,
}: RepositoryFollower): { readonly id: number; readonly name: string } | undefined {
  return status?.repository?.requested === spec.repository ? status.repository : undefined
}

/** Why such an object waits for its grant; for the definition of each such kind. */
export const followerReasonDefinitions = defineReasons({
  progress: {
    WaitingForGrant: 'The RepositoryGrant of this object is not decided or not ready yet. The message has the details.',
  },
  person: {
    GrantDenied: 'The RepositoryGrant was denied. The message says why; see the reasons of RepositoryGrant.',
    GrantConflict:
      'A RepositoryGrant with the required name exists and does not belong to this object. Delete it, or rename this object.',
    GrantQuotaExceeded:
      'The tenant may not have more RepositoryGrants. Delete what is not used, or ask a platform admin to raise `spec.limits.applications` of the Tenant, which raises this limit, too. The platform tries again every minute.',
    RepositoryReplaced:
      'Another repository has taken the name in `spec.repository` since this object began to follow its repository. Set `spec.repository` to the present name of that repository, or delete the object and create it again to follow the other one.',
  },
})

export const followerReasons = followerReasonDefinitions.names
