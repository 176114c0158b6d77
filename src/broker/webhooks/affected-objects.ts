// Decides which objects an event affects: they get the wake annotation. Pure. What the candidates are (by number, by
// installation, by person) is looked up in `candidate-reader.ts`; here the event says which kinds it concerns, and a push or
// pull request which followers.

import type { RepositoryFollower } from '../../api/capabilities/repository-follower.ts'
import type { Installation } from '../../api/github/installation.ts'
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { FollowerKind } from '../../api/registry.ts'
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { GitHubEvent } from './github-event.ts'

/** An object that follows a repository. */
export type Follower = { readonly kind: FollowerKind; readonly object: RepositoryFollower }

/** What an event may affect, of its installation, organisation, repository and person only. */
export type Candidates = {
  readonly tenants: readonly Tenant[]
  readonly installations: readonly Installation[]
  readonly grants: readonly RepositoryGrant[]
  readonly followers: readonly Follower[]
}

export type AffectedObject = { readonly type: ResourceType; readonly key: ObjectKey }

type Groups = readonly (keyof Candidates)[]
const everything: Groups = ['tenants', 'installations', 'grants', 'followers']

/** The candidates that each event affects, in the order in which they are woken. Other events affect nothing. */
const affectedBy: ReadonlyMap<string, Groups> = new Map<string, Groups>([
  ['push', ['followers']],
  ['pull_request', ['followers']],
  // Somebody may have approved a commit. What was said is read from GitHub.
  ['pull_request_review.submitted', ['followers']],
  ['issue_comment.created', ['followers']],
  ['installation', ['installations', 'grants']],
  ['installation_repositories', ['installations', 'grants']],
  // The account was renamed: objects show the names of its repositories.
  ['installation_target', everything],
  ['organization.renamed', everything],
  ['repository', ['grants', 'followers']],
  ['member', ['grants', 'followers']],
  ['organization', ['tenants', 'installations', 'grants', 'followers']],
  ['membership', ['installations', 'grants', 'followers']],
  ['team', ['tenants', 'grants', 'followers']],
])

/** What people may do with a repository may have changed, unless an entry of `affectedBy` says what the action means. */
const accessEvents: ReadonlySet<string> = new Set(['member', 'organization', 'membership', 'team'])

/** The objects to wake, each once when `candidates` holds each once. */
export function affectedObjects(event: GitHubEvent, candidates: Candidates): readonly AffectedObject[] {
  const { tenants, installations, grants, followers } = candidates
  const affected: Readonly<Record<keyof Candidates, () => readonly AffectedObject[]>> = {
    tenants: () => tenants.map(object => affectedObject(tenant, object)),
    installations: () => installations.map(object => affectedObject(installation, object)),
    grants: () => grants.map(object => affectedObject(repositoryGrant, object)),
    followers: () => followers.filter(item => followsSource(item, event)).map(({ kind, object }) => affectedObject(kind, object)),
  }
  const groups = affectedBy.get(nameOf(event)) ?? affectedBy.get(event.event) ?? []
  return groups.flatMap(group => affected[group]())
}

function affectedObject(type: ResourceType, object: KubeObject): AffectedObject {
  return { type, key: keyOf(object) }
}

function nameOf({ event, action }: GitHubEvent): string {
  return `${event}.${action}`
}

/** A push that does not say which branch is the default one may be a push to it. */
function isDefault({ branch, defaultBranch }: GitHubEvent): boolean {
  return defaultBranch === undefined || branch === defaultBranch
}

function followsSource({ kind, object }: Follower, event: GitHubEvent): boolean {
  const { branch, renamedTo, defaultBranch, pullRequest, access } = kind.options.followsRepository.source(
    object.spec,
    object.status,
  )
  if (accessEvents.has(event.event) && !affectedBy.has(nameOf(event))) return access === true
  if (event.event === 'push')
    return (
      event.branch !== undefined && ([branch, renamedTo].includes(event.branch) || (defaultBranch === true && isDefault(event)))
    )
  if (event.event === 'pull_request_review' || event.event === 'issue_comment') return pullRequest === 'every'
  if (event.event !== 'pull_request') return true
  return pullRequest === 'every' || (pullRequest !== undefined && pullRequest === event.pullRequest)
}
