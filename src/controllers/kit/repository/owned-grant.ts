// The RepositoryGrant that an object owns because its kind follows a repository: what it says, what its decision means for the
// owner, and the token under it. The same for every such kind. The grant is created in the name of the owner's requester and
// decided like any other. Grants are immutable, so a change of installation, repository or requester replaces it. Never writes
// to the cluster.

import { followedRepository, followerReasons, type RepositoryFollower } from '../../../api/capabilities/repository-follower.ts'
import {
  grantSubjectKinds,
  type RepositoryGrant,
  repositoryGrant,
  repositoryGrantReasons,
} from '../../../api/github/repository-grant.ts'
import { followerKinds } from '../../../api/registry.ts'
import type { GitHubEndpoints } from '../../../github/index.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { controllerOf, ownerReference, uidOf } from '../../../kube/object/owner.ts'
import { AppError } from '../../../lib/errors.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { once } from '../../../lib/limits/once.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { boundedName } from '../../../lib/text/bounded-name.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { TokenDesk } from '../../../services/token-desk/token-desk.ts'

const maxName = 253
const lifetimeSeconds = 2_592_000
/** Replaced this long before it expires, so that no build meets an expired grant. */
const renewMilliseconds = 3_600_000

/** `<kind>-<name>`; a hash replaces the end of a name that is too long. */
export function ownedGrantName(owner: RepositoryFollower): string {
  return boundedName(`${owner.kind.toLowerCase()}-${owner.metadata.name}`, maxName)
}

/**
 * The grant that the owner must have. What it requests and why comes from the kind (`followsRepository`).
 * @throws AppError `internal` for an object whose kind does not follow a repository
 */
export function desiredOwnedGrant(owner: RepositoryFollower): Omit<RepositoryGrant, 'status'> {
  const { kind, spec, metadata } = owner
  const follows = followerKinds.find(follower => follower.kind === kind)?.options.followsRepository
  const subjectKind = grantSubjectKinds.find(subject => subject === kind)
  if (follows === undefined) throw new AppError('internal', `${kind} is not a kind that follows a repository`)
  if (subjectKind === undefined)
    throw new AppError('internal', `${kind} is missing in grantSubjectKinds (src/api/github/repository-grant.ts)`)
  return {
    apiVersion: repositoryGrant.apiVersion,
    kind: repositoryGrant.kind,
    metadata: {
      name: ownedGrantName(owner),
      namespace: metadata.namespace ?? '',
      ownerReferences: [ownerReference(owner, { controller: true })],
    },
    spec: {
      installation: spec.installation,
      // A grant that is made after a rename names the repository as it is called then.
      repositories: [followedRepository(owner)?.name ?? spec.repository],
      permissions: { contents: 'read', metadata: 'read', ...follows.permissions(spec) },
      subjects: [{ kind: subjectKind, name: metadata.name }],
      delivery: 'TokenEndpoint',
      lifetimeSeconds,
      reason: `${kind} ${metadata.name} ${follows.purpose(spec)}`,
      requestedBy: spec.requestedBy,
    },
  }
}

/** What to do about the grant. With all but `use` the owner has to wait: `reason` is one of `followerReasons`. */
export type OwnedGrantPlan =
  | { readonly kind: 'use'; readonly grant: RepositoryGrant }
  | (Refusal & { readonly kind: 'wait' })
  | (Refusal & { readonly kind: 'create'; readonly desired: Omit<RepositoryGrant, 'status'> })
  /** Delete the grant with this uid. The deletion wakes the owner, which then creates another one. */
  | (Refusal & { readonly kind: 'replace'; readonly uid: string })

function decisionMessage({ metadata, status }: RepositoryGrant): string {
  const condition = findCondition(status?.conditions, 'Approved') ?? findCondition(status?.conditions, 'Ready')
  return condition && condition.message !== '' ? `${metadata.name}: ${condition.message}` : undecided(metadata.name)
}

function undecided(name: string): string {
  return `RepositoryGrant ${name} has not been decided yet`
}

function isEnding(grant: RepositoryGrant, now: Date): boolean {
  const { expiresAt, conditions } = grant.status ?? {}
  if (findCondition(conditions, 'Ready')?.reason === repositoryGrantReasons.expired) return true
  return expiresAt !== undefined && Date.parse(expiresAt) - now.getTime() < renewMilliseconds
}

/** A grant that was approved for the followed repository says the same under any of its names. */
function saysTheSame(owner: RepositoryFollower, grant: RepositoryGrant, desired: Pick<RepositoryGrant, 'spec'>): boolean {
  const { repositories } = grant.spec
  if (sameJson(repositories, desired.spec.repositories)) return sameJson(grant.spec, desired.spec)
  const followed = followedRepository(owner)
  const covered = followed !== undefined && grant.status?.repositories?.some(({ id }) => id === followed.id)
  return covered === true && sameJson(grant.spec, { ...desired.spec, repositories })
}

/** `grant`: the one that has the owner's `ownedGrantName`, if any. */
export function planOwnedGrant(owner: RepositoryFollower, grant: RepositoryGrant | undefined, now: Date): OwnedGrantPlan {
  const desired = desiredOwnedGrant(owner)
  const { waitingForGrant, grantDenied, grantConflict } = followerReasons
  if (!grant) return { kind: 'create', desired, reason: waitingForGrant, message: undecided(desired.metadata.name) }
  const { status, metadata } = grant
  const { name, uid, deletionTimestamp } = metadata
  if (controllerOf(grant)?.uid !== owner.metadata.uid) {
    const message = `RepositoryGrant ${name} exists and does not belong to this ${owner.kind}: delete it, or rename the ${owner.kind}`
    return { kind: 'wait', reason: grantConflict, message }
  }
  const replaced = { reason: waitingForGrant, message: `RepositoryGrant ${name} is being replaced` }
  if (deletionTimestamp !== undefined) return { kind: 'wait', ...replaced }
  if (uid !== undefined && (!saysTheSame(owner, grant, desired) || isEnding(grant, now)))
    return { kind: 'replace', uid, ...replaced }
  if (status?.observedGeneration !== metadata.generation)
    return { kind: 'wait', reason: waitingForGrant, message: undecided(name) }
  if (status?.decision === 'Approved' && findCondition(status.conditions, 'Ready')?.status === 'True') return useOf(owner, grant)
  const reason = status?.decision === 'Denied' ? grantDenied : waitingForGrant
  return { kind: 'wait', reason, message: decisionMessage(grant) }
}

/**
 * A name can pass to another repository between two grants: the owner goes on with the repository that it follows, or not at
 * all.
 */
function useOf(owner: RepositoryFollower, grant: RepositoryGrant): OwnedGrantPlan {
  const followed = followedRepository(owner)
  const [granted] = grant.status?.repositories ?? []
  if (followed === undefined || granted?.id === followed.id) return { kind: 'use', grant }
  const message = `spec.repository: ${granted?.name} is another repository now (id ${granted?.id}); this ${owner.kind} follows the one that was ${followed.name} (id ${followed.id}): set spec.repository to the present name of that one, or delete this ${owner.kind} and create it again to follow the other one`
  return { kind: 'wait', reason: followerReasons.repositoryReplaced, message }
}

/** A token for the one repository that the grant names, and where to use it. The token is in this value only. */
export type RepositoryAccess = {
  readonly endpoints: GitHubEndpoints
  readonly token: SecretString
  /** Found by the id that the grant resolved to: the name may have changed since. */
  readonly repository: { readonly id: number; readonly fullName: string }
}

export type AccessDeps = {
  readonly tokens: Pick<TokenDesk, 'request'>
  readonly endpointsOf: (clusterGitHubApp: string) => Promise<GitHubEndpoints>
}

export type AccessRequest = {
  readonly owner: RepositoryFollower
  readonly grant: RepositoryGrant
  /** The name of the ClusterGitHubApp. */
  readonly app: string
  /** Who acts, for the audit log: `sekisho:<process part>`. */
  readonly actor: string
}

/**
 * A function that requests the token, with the owner as its subject, when it is first called; later calls share that answer, so
 * a reconcile requests at most one. It rejects as `TokenDesk.request`, and with `integrity_violation` unless the token reaches
 * exactly one repository.
 */
export function accessOnce(deps: AccessDeps, { owner, grant, app, actor }: AccessRequest): () => Promise<RepositoryAccess> {
  const { namespace = '', name } = owner.metadata
  const subject = { kind: owner.kind, namespace, name, uid: uidOf(owner) }
  return once(async () => {
    const endpoints = await deps.endpointsOf(app)
    const { token, repositories } = await deps.tokens.request({ grant, subject, actor })
    const [repository] = repositories
    if (repository && repositories.length === 1) return { endpoints, token, repository }
    throw new AppError('integrity_violation', `the token for ${namespace}/${name} does not reach exactly one repository`)
  })
}
