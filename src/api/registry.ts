// Every kind of the product, in the order in which they are installed, and the lists that derive from their capabilities. A new
// kind is one file and one line below.
import { objectAt } from '../lib/json/json-value.ts'
import { appPipeline } from './apps/app-pipeline.ts'
import { appSecret } from './apps/app-secret.ts'
import { application } from './apps/application.ts'
import { applicationChart } from './apps/application-chart.ts'
import { githubReport } from './apps/github-report.ts'
import { previewApproval } from './apps/preview-approval.ts'
import { release } from './apps/release.ts'
import { remoteSync } from './apps/remote-sync.ts'
import type { OwnsApplications } from './capabilities/application-owner.ts'
import type { FollowsRepository, RepositoryFollower } from './capabilities/repository-follower.ts'
import { clusterGitHubApp } from './github/cluster-github-app.ts'
import { grantApproval } from './github/grant-approval.ts'
import { clusterGrantPolicy, grantPolicy } from './github/grant-policy.ts'
import { halt } from './github/halt.ts'
import { installation } from './github/installation.ts'
import { repositoryGrant } from './github/repository-grant.ts'
import type { KindDefinition } from './kind.ts'
import { ownerLabel } from './names.ts'
import type { KubeObject } from './resource.ts'
import { bucket } from './services/bucket.ts'
import { serviceBinding } from './services/service-binding.ts'
import { serviceClass } from './services/service-class.ts'
import { serviceInstance } from './services/service-instance.ts'
import { domainClaim } from './tenancy/domain-claim.ts'
import { tenant } from './tenancy/tenant.ts'

/** All kinds of the product. */
export const kinds: readonly KindDefinition[] = [
  tenant,
  domainClaim,
  clusterGitHubApp,
  installation,
  repositoryGrant,
  grantApproval,
  grantPolicy,
  clusterGrantPolicy,
  halt,
  applicationChart,
  appSecret,
  application,
  release,
  remoteSync,
  githubReport,
  appPipeline,
  previewApproval,
  serviceClass,
  serviceInstance,
  bucket,
  serviceBinding,
]

export type FollowerKind = KindDefinition<RepositoryFollower> & {
  readonly options: { readonly followsRepository: FollowsRepository }
}

/** The kinds that follow a repository. Webhook handling, quota, owned grants and tenant roles derive from this list. */
export const followerKinds: readonly FollowerKind[] = kinds.filter(
  (kind): kind is FollowerKind => kind.options.followsRepository !== undefined,
)

export type RequesterKind = { readonly kind: KindDefinition; readonly operations: readonly ('CREATE' | 'UPDATE')[] }

export type OwnerKind = KindDefinition & { readonly options: { readonly ownsApplications: OwnsApplications } }

/** The kinds whose objects own Applications. Admission, lists of Applications and quota derive from this list. */
export const ownerKinds: readonly OwnerKind[] = kinds.filter(
  (kind): kind is OwnerKind => kind.options.ownsApplications !== undefined,
)

/** The label selector of what is nobody's part: no object of one of `ownerKinds` owns it. */
export const unownedSelector = ownerKinds.map(({ kind }) => `!${ownerLabel(kind)}`).join(',')

/** Whether an object of one of `ownerKinds` owns it, by the labels that only the platform sets. */
export function isOwned({ metadata: { labels = {} } }: KubeObject): boolean {
  return ownerKinds.some(({ kind }) => labels[ownerLabel(kind)] !== undefined)
}

/** The kinds whose `spec.requestedBy` is the user who makes the request, and the operations for which that is enforced. */
export const requesterKinds: readonly RequesterKind[] = kinds
  .filter(({ specSchema }) => objectAt(specSchema, 'properties', 'requestedBy') !== undefined)
  .map(kind => ({ kind, operations: kind.options.immutableSpec !== undefined ? ['CREATE'] : ['CREATE', 'UPDATE'] }))

/** The kinds for whose objects the controllers make others in the name of the same person: a grant, a RemoteSync. */
export const delegatingKinds: readonly KindDefinition[] = requesterKinds
  .map(({ kind }) => kind)
  .filter(({ options }) => options.followsRepository !== undefined || options.ownsApplications !== undefined)
