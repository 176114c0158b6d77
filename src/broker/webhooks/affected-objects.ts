// Decides which objects an event affects: they get the wake annotation. Pure. Repositories match by numeric id where a grant has resolved one,
// by name where none has; a name counts only inside the installation that the event came from.

import type { Installation } from '../../api/github/installation.ts'
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { FollowerKind } from '../../api/registry.ts'
import type { RepositoryFollower } from '../../api/repository-follower.ts'
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { GitHubEvent } from './github-event.ts'

/** An object that follows a repository, with the grant that it owns, if that exists. */
export type Follower = {
  readonly kind: FollowerKind
  readonly object: RepositoryFollower
  readonly grant: RepositoryGrant | undefined
}

/** What an event may affect, of its installation or organisation only: looked up by `candidate-reader.ts`. */
export type Candidates = {
  readonly tenants: readonly Tenant[]
  readonly installations: readonly Installation[]
  readonly grants: readonly RepositoryGrant[]
  readonly followers: readonly Follower[]
}

export type AffectedObject = { readonly type: ResourceType; readonly key: ObjectKey }

/** The candidates that each event affects, in the order in which they are woken. Other events affect nothing. */
const affectedBy: ReadonlyMap<string, readonly (keyof Candidates)[]> = new Map([
  ['push', ['followers']],
  ['pull_request', ['followers']],
  ['installation', ['installations', 'grants']],
  ['installation_repositories', ['installations', 'grants']],
  ['installation_target', ['installations', 'grants']],
  ['repository', ['grants', 'followers']],
  ['member', ['grants']],
  ['organization', ['tenants', 'installations', 'grants']],
  ['membership', ['tenants', 'installations', 'grants']],
  ['team', ['tenants', 'installations', 'grants']],
])

/** The objects to wake, each once when `candidates` holds each once. */
export function affectedObjects(event: GitHubEvent, candidates: Candidates): readonly AffectedObject[] {
  const { tenants, installations, grants, followers } = candidates
  const affected: Readonly<Record<keyof Candidates, () => readonly AffectedObject[]>> = {
    tenants: () => tenants.map(object => affectedObject(tenant, object)),
    installations: () => installations.map(object => affectedObject(installation, object)),
    grants: () => grants.filter(object => coversRepository(object, event)).map(object => affectedObject(repositoryGrant, object)),
    followers: () => followers.filter(item => follows(item, event)).map(({ kind, object }) => affectedObject(kind, object)),
  }
  return (affectedBy.get(event.event) ?? []).flatMap(group => affected[group]())
}

function affectedObject(type: ResourceType, object: KubeObject): AffectedObject {
  return { type, key: keyOf(object) }
}

/** An event without a repository affects every grant of its installation. */
function coversRepository({ status }: RepositoryGrant, { repository }: GitHubEvent): boolean {
  return repository === undefined || (status?.repositories ?? []).some(({ id }) => id === repository.id)
}

function follows(follower: Follower, event: GitHubEvent): boolean {
  return followsSource(follower, event) && followsRepository(follower, event)
}

function followsSource({ kind, object }: Follower, event: GitHubEvent): boolean {
  const { branch, pullRequest } = kind.options.followsRepository.source(object.spec)
  if (event.event === 'push') return branch !== undefined && branch === event.branch
  if (event.event !== 'pull_request') return true
  return pullRequest === 'every' || (pullRequest !== undefined && pullRequest === event.pullRequest)
}

function followsRepository({ object, grant }: Follower, { repository }: GitHubEvent): boolean {
  if (repository === undefined) return false
  const followed = object.spec.repository.toLowerCase()
  const resolved = grant?.status?.repositories ?? []
  if (resolved.some(({ name }) => name.toLowerCase() === followed)) return resolved.some(({ id }) => id === repository.id)
  return followed === repository.fullName.toLowerCase()
}
