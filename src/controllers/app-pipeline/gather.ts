// Reads what an AppPipeline's reconcile must know, as plain values, from caches and memory only. Never writes; absence is a
// fact and never throws.
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import type { Application } from '../../api/apps/application.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { labels } from '../../api/names.ts'
import { type KubeObject, keyOf, keyText } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { addOwnedIndex, type Owned, ownedBy } from '../kit/owned-application/owned.ts'
import { ownedGrantName } from '../kit/repository/owned-grant.ts'
import type { KnownPullRequests, PullRequestMemory } from './pull-requests/known.ts'

export type AppPipelineCaches = {
  readonly pipelines: Cache<AppPipeline>
  readonly applications: Cache<Application>
  readonly remoteSyncs: Cache<RemoteSync>
  readonly approvals: Cache<PreviewApproval>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
}

/** AppPipelines by the `keyText` of their Installation; approvals by the uid of their AppPipeline. */
export const installationIndex = 'appPipelineInstallation'
const approvalIndex = 'appPipelineApproval'

/** Call once, before the caches start. */
export function addAppPipelineIndexes({ pipelines, applications, remoteSyncs, approvals }: AppPipelineCaches): void {
  pipelines.addIndex(installationIndex, item => [keyText({ ...keyOf(item), name: item.spec.installation })])
  addOwnedIndex(applications, appPipeline.kind)
  addOwnedIndex(remoteSyncs, appPipeline.kind)
  approvals.addIndex(approvalIndex, ({ spec }) => [spec.pipeline.uid])
}

/** What exists of one preview. */
export type Preview = Owned & {
  readonly number: number
  /** The numeric id of the repository whose pull request it belongs to. */
  readonly repository: number
}

export type Facts = {
  readonly pipeline: AppPipeline
  readonly now: Date
  readonly installation: Installation | undefined
  /** The one with the name of the owned grant, whether or not this AppPipeline owns it. */
  readonly grant: RepositoryGrant | undefined
  /** What exists, by number. */
  readonly previews: ReadonlyMap<number, Preview>
  readonly approvals: readonly PreviewApproval[]
  /** What GitHub said before; undefined after a restart. */
  readonly known: KnownPullRequests | undefined
}

export type GatherDeps = {
  readonly caches: AppPipelineCaches
  readonly memory: Pick<PullRequestMemory, 'get'>
  readonly clock: Clock
}

/** The pull request and the repository that the labels of a child name; only the platform sets them. */
function placeOf({ metadata }: KubeObject): { readonly number: number; readonly repository: number } {
  const { [labels.pullRequest]: number, [labels.repository]: repository } = metadata.labels ?? {}
  return { number: Number(number), repository: Number(repository) }
}

function previewsOf(applications: readonly Application[], remoteSyncs: readonly RemoteSync[]): ReadonlyMap<number, Preview> {
  const found = new Map<number, Preview>()
  for (const application of applications) {
    const place = placeOf(application)
    found.set(place.number, { ...place, application, remoteSync: undefined })
  }
  for (const remoteSync of remoteSyncs) {
    const place = placeOf(remoteSync)
    found.set(place.number, { ...place, application: found.get(place.number)?.application, remoteSync })
  }
  return found
}

/** What is known before GitHub is asked. */
export function gather({ caches, memory, clock }: GatherDeps, pipeline: AppPipeline): Facts {
  const { namespace = '', uid = '' } = pipeline.metadata
  const applications = ownedBy(caches.applications, appPipeline.kind, uid)
  const remoteSyncs = ownedBy(caches.remoteSyncs, appPipeline.kind, uid)
  return {
    pipeline,
    now: clock.now(),
    installation: caches.installations.get({ namespace, name: pipeline.spec.installation }),
    grant: caches.grants.get({ namespace, name: ownedGrantName(pipeline) }),
    previews: previewsOf(applications, remoteSyncs),
    approvals: caches.approvals.byIndex(approvalIndex, uid).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    known: memory.get(uid),
  }
}
