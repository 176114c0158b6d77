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
import type { Bucket } from '../../api/services/bucket.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { addOwnedIndex, type Owned, ownedBy } from '../kit/owned-application/owned.ts'
import { ownedGrantName } from '../kit/repository/owned-grant.ts'
import type { PreviewService } from './preview/own-services.ts'
import type { KnownPullRequests, PullRequestMemory } from './pull-requests/known.ts'

export type AppPipelineCaches = {
  readonly pipelines: Cache<AppPipeline>
  readonly applications: Cache<Application>
  readonly remoteSyncs: Cache<RemoteSync>
  readonly approvals: Cache<PreviewApproval>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
  readonly instances: Cache<ServiceInstance>
  readonly buckets: Cache<Bucket>
  readonly classes: Cache<ServiceClass>
}

/** AppPipelines by the `keyText` of their Installation; approvals by the uid of their AppPipeline. */
export const installationIndex = 'appPipelineInstallation'
const approvalIndex = 'appPipelineApproval'

/** Call once, before the caches start. */
export function addAppPipelineIndexes(caches: AppPipelineCaches): void {
  const { pipelines, approvals } = caches
  pipelines.addIndex(installationIndex, item => [keyText({ ...keyOf(item), name: item.spec.installation })])
  addOwnedIndex(caches.applications, appPipeline)
  addOwnedIndex(caches.remoteSyncs, appPipeline)
  addOwnedIndex(caches.instances, appPipeline)
  addOwnedIndex(caches.buckets, appPipeline)
  approvals.addIndex(approvalIndex, ({ spec }) => [spec.pipeline.uid])
}

/** What exists of one preview. */
export type Preview = Owned & {
  readonly number: number
  /** Of the template as it is, and as it was. */
  readonly services: readonly PreviewService[]
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
  /** Those that `template.services` names, by name. */
  readonly classes: ReadonlyMap<string, ServiceClass>
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

/** What exists, by the uid of the AppPipeline. */
function previewsOf(
  { applications, remoteSyncs, instances, buckets }: AppPipelineCaches,
  uid: string,
): ReadonlyMap<number, Preview> {
  const found = new Map<number, Preview>()
  const add = (child: KubeObject, part: (before: Preview) => Partial<Preview>): void => {
    const place = placeOf(child)
    const before = found.get(place.number) ?? { ...place, application: undefined, remoteSync: undefined, services: [] }
    found.set(place.number, { ...before, ...place, ...part(before) })
  }
  const own = [...ownedBy(instances, appPipeline.kind, uid), ...ownedBy(buckets, appPipeline.kind, uid)]
  for (const service of own) add(service, before => ({ services: [...before.services, service] }))
  for (const application of ownedBy(applications, appPipeline.kind, uid)) add(application, () => ({ application }))
  for (const remoteSync of ownedBy(remoteSyncs, appPipeline.kind, uid)) add(remoteSync, () => ({ remoteSync }))
  return found
}

function classesOf({ classes }: AppPipelineCaches, { spec }: AppPipeline): ReadonlyMap<string, ServiceClass> {
  const found = (spec.template.services ?? []).flatMap(entry => classes.get({ name: entry.class }) ?? [])
  return new Map(found.map(one => [one.metadata.name, one]))
}

/** What is known before GitHub is asked. */
export function gather({ caches, memory, clock }: GatherDeps, pipeline: AppPipeline): Facts {
  const { namespace = '', uid = '' } = pipeline.metadata
  return {
    pipeline,
    now: clock.now(),
    installation: caches.installations.get({ namespace, name: pipeline.spec.installation }),
    grant: caches.grants.get({ namespace, name: ownedGrantName(pipeline) }),
    previews: previewsOf(caches, uid),
    classes: classesOf(caches, pipeline),
    approvals: caches.approvals.byIndex(approvalIndex, uid).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    known: memory.get(uid),
  }
}
