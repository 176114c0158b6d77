// Reads everything that an Application's reconcile needs to know, from caches only, into one value. Never writes, never throws on absence.
// It runs for each Application on each wake: index look-ups only, never a whole list.

import type { AppSecret } from '../../api/apps/app-secret.ts'
import { usedSecrets } from '../../api/apps/application/secret-uses.ts'
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import {
  type ConfigMap,
  type CronJob,
  cronJobs,
  type Deployment,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type Ingress,
  ingresses,
  type Job,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  type Service,
  services,
} from '../../api/builtin/index.ts'
import { jobNameLabel, labels } from '../../api/names.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import type { DomainClaim } from '../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { controllerOf, controllingKey } from '../../kube/object/owner.ts'
import { defined } from '../../lib/json/defined.ts'
import { type ChartLookup, findChartSource } from '../../services/charts/chart-source.ts'
import type { FollowedTags } from '../../services/followed-tags/open.ts'
import type { RegistryPlace } from '../../services/registry/image-place.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import type { RedirectAnnotations } from './domains/redirects.ts'
import { type HostFacts, hostsOfIngress, type IngressAddress, wantedHosts } from './hosts.ts'
import type { ContentsState } from './image/contents.ts'
import { byDigest, type Followed, followedOf, namesOfTags } from './image/followed-tag.ts'
import type { ImageContentsReader } from './image/read-contents.ts'
import { entryOf, entryText, type InventoryEntry, union } from './objects/inventory.ts'
import { isKeptClaimOf } from './objects/volume-claim-rules.ts'
import type { ReleaseHeader, SecretVersions } from './releases/release-content.ts'
import { releaseOfJob } from './releases/release-job.ts'
import { type SecretFacts, secretVersions } from './secrets/secret-checks.ts'

/** Selects the objects that carry the label: only those of Applications are cached. */
export const applicationSelector = labels.application

/** Selects the objects without the label. */
export const foreignSelector = `!${labels.application}`

/** Applications by the hosts that they want, Ingresses by those that they serve. */
export const hostIndex = 'host'
/** Tenants by the namespace that they have. */
export const namespaceIndex = 'application/namespace'
/** Applications by the name of their chart. */
export const chartIndex = 'chart'
/** Applications by the `namespace/name` of the AppSecrets that they use. */
export const secretIndex = 'application/secret'
/** Applications that follow a tag, by their namespace. */
const followingIndex = 'application/following'
/** Applications by the name of the tag that they follow. */
export const tagIndex = 'application/tag'
const applicationIndex = 'application'
const ownerIndex = 'owner'
const jobIndex = 'job'
/** RemoteSyncs by their Application. */
const syncIndex = 'application/sync'

export type ApplicationCaches = {
  readonly applications: Cache<Application>
  readonly charts: Cache<ApplicationChart>
  /** ConfigMaps of the platform namespace. */
  readonly configMaps: Cache<ConfigMap>
  readonly deployments: Cache<Deployment>
  readonly services: Cache<Service>
  readonly ingresses: Cache<Ingress>
  readonly cronJobs: Cache<CronJob>
  readonly autoscalers: Cache<HorizontalPodAutoscaler>
  readonly volumeClaims: Cache<PersistentVolumeClaim>
  readonly pods: Cache<Pod>
  readonly releases: Cache<ReleaseHeader>
  /** Those of charts and release jobs. */
  readonly jobs: Cache<Job>
  readonly remoteSyncs: Cache<RemoteSync>
  readonly tenants: Cache<Tenant>
  readonly claims: Cache<DomainClaim>
  readonly appSecrets: Pick<Cache<AppSecret>, 'get'>
  /** Ingresses of the whole cluster without the label of Applications. */
  readonly foreignIngresses: Cache<Ingress>
}

/** Call once, before the caches start. The host index of Applications also holds the platform's own names for Applications: others can claim them, too. */
export function addApplicationIndexes(caches: ApplicationCaches, ingress: IngressAddress): void {
  caches.applications.addIndex(hostIndex, application => wantedHosts(application, ingress))
  caches.ingresses.addIndex(hostIndex, hostsOfIngress)
  caches.foreignIngresses.addIndex(hostIndex, hostsOfIngress)
  caches.tenants.addIndex(namespaceIndex, ({ status }) => (status?.namespace === undefined ? [] : [status.namespace]))
  caches.applications.addIndex(chartIndex, application => [application.spec.chart])
  caches.applications.addIndex(secretIndex, ({ metadata, spec }) =>
    usedSecrets(spec).map(name => `${metadata.namespace}/${name}`),
  )
  caches.applications.addIndex(followingIndex, ({ metadata, spec }) =>
    spec.followTag === true ? [metadata.namespace ?? ''] : [],
  )
  caches.applications.addIndex(tagIndex, namesOfTags)
  const ofApplication = ({ metadata }: KubeObject): readonly string[] => [
    `${metadata.namespace}/${metadata.labels?.[labels.application] ?? ''}`,
  ]
  caches.pods.addIndex(applicationIndex, ofApplication)
  caches.volumeClaims.addIndex(applicationIndex, ofApplication)
  caches.pods.addIndex(jobIndex, pod => (jobOfPod(pod) === undefined ? [] : [`${pod.metadata.namespace}/${jobOfPod(pod)}`]))
  caches.remoteSyncs.addIndex(syncIndex, sync => [`${sync.metadata.namespace}/${sync.spec.application}`])
  caches.releases.addIndex(ownerIndex, ownersOf)
  caches.jobs.addIndex(ownerIndex, ownersOf)
  for (const { cacheIn } of cachedKinds) cacheIn(caches).addIndex(ownerIndex, ownersOf)
}

/** The kinds of children that are cached. A child of these kinds is found by its owner even when a crash kept it out of the inventory. */
const cachedKinds: readonly {
  readonly type: ResourceType
  readonly cacheIn: (caches: ApplicationCaches) => Cache<KubeObject>
}[] = [
  { type: deployments, cacheIn: caches => caches.deployments },
  { type: services, cacheIn: caches => caches.services },
  { type: ingresses, cacheIn: caches => caches.ingresses },
  { type: cronJobs, cacheIn: caches => caches.cronJobs },
  { type: horizontalPodAutoscalers, cacheIn: caches => caches.autoscalers },
  { type: persistentVolumeClaims, cacheIn: caches => caches.volumeClaims },
]

/** Whether objects of this kind are found by their owner, without the inventory. A claim that is to be kept has none. */
export function isFoundByOwner({ apiVersion, kind }: InventoryEntry): boolean {
  if (kind === persistentVolumeClaims.kind) return false
  return cachedKinds.some(({ type }) => type.apiVersion === apiVersion && type.kind === kind)
}

function ownersOf(child: KubeObject): readonly string[] {
  const owner = controllerOf(child)
  return owner === undefined ? [] : [owner.uid]
}

/** Pods of Jobs are not pods of processes: they end, and a failed one is not a process that crashes. */
function jobOfPod(pod: Pod): string | undefined {
  return pod.metadata.labels?.[jobNameLabel]
}

/** What is known of an Application's releases. */
export type ReleaseFacts = {
  /** Those of this Application by uid, newest first. */
  readonly headers: readonly ReleaseHeader[]
  readonly jobs: readonly Job[]
  /** Pods of release jobs, by the name of their Job. */
  readonly podsOfJobs: ReadonlyMap<string, Pod>
  /** The RemoteSyncs that name the Application. */
  readonly syncs: readonly RemoteSync[]
  /** The AppSecrets that it uses. */
  readonly secretVersions: SecretVersions
}

/** The platform's image registry, and the Secret with which pods pull from it; none when it asks for no credential. */
export type ImageRegistry = { readonly place: RegistryPlace; readonly pullSecret: string | undefined }

/** What decides about an Application: plain values, as the caches held them at one time. */
export type Facts = HostFacts & {
  readonly registry: ImageRegistry
  /** What its tag means, when it follows one: `application` then has the digest, if that is known. */
  readonly followed?: Followed
  /** What its image says about the processes in it. */
  readonly contents: ContentsState
  /** The ClusterIssuers that Applications may name. */
  readonly certificateIssuers: readonly string[]
  /** Its ApplicationChart, and where the code of that is; undefined when there is no ApplicationChart of that name. */
  readonly chart: { readonly timeoutSeconds: number; readonly lookup: ChartLookup } | undefined
  readonly secrets: SecretFacts
  /** The cached objects whose controller is this Application, by uid, and the volume claims that are kept for it, under their `entryText`. */
  readonly children: ReadonlyMap<string, KubeObject>
  /** The volume claims that carry its label, whoever made them, by `entryText`. */
  readonly volumeClaims: ReadonlySet<string>
  /** What the Application has: its inventory and its cached children. */
  readonly present: readonly InventoryEntry[]
  /** Of its processes. */
  readonly pods: readonly Pod[]
  readonly releases: ReleaseFacts
}

export type GatherDeps = {
  readonly caches: ApplicationCaches
  readonly platformNamespace: string
  readonly ingress: IngressAddress
  readonly reservedHosts: readonly string[]
  readonly redirectAnnotations: RedirectAnnotations
  readonly registry: ImageRegistry
  readonly images: ImageContentsReader
  readonly tags: FollowedTags
  readonly certificateIssuers: readonly string[]
  readonly status: Pick<StatusWriter<Application>, 'latest'>
}

/** Undefined when the cache has no such Application. */
export function gather(deps: GatherDeps, key: ObjectKey): Facts | undefined {
  const { caches, tags, registry } = deps
  const cached = caches.applications.get(key)
  if (cached === undefined) return undefined
  const application = deps.status.latest(cached)
  const following = caches.applications.byIndex(followingIndex, key.namespace ?? '')
  const [newest] = releaseHeaders(caches, application)
  const followed = followedOf(application, { tags, place: registry.place, following, newest })
  return { ...factsOf(deps, byDigest(application, followed)), ...defined({ followed }) }
}

/** The facts about an Application with this spec: that of the cluster, or that of an earlier release. */
export function factsOf(deps: GatherDeps, application: Application): Facts {
  const { caches, platformNamespace, registry, images, certificateIssuers } = deps
  const { namespace = '', name, uid = '' } = application.metadata
  const chart = caches.charts.get({ name: application.spec.chart })
  const owned = cachedKinds.flatMap(({ cacheIn }) => cacheIn(caches).byIndex(ownerIndex, uid))
  const claims = caches.volumeClaims.byIndex(applicationIndex, `${namespace}/${name}`)
  const kept = claims.filter(claim => isKeptClaimOf(application, claim))
  return {
    ...hostFacts(deps, application),
    registry,
    contents: images.stateOf(application),
    certificateIssuers,
    chart: chart && {
      timeoutSeconds: chart.spec.timeoutSeconds,
      lookup: findChartSource(chart, configMap => caches.configMaps.get({ namespace: platformNamespace, name: configMap })),
    },
    secrets: secretFacts(caches, application),
    children: new Map([...owned, ...kept].map(child => [entryText(entryOf(child)), child])),
    volumeClaims: new Set(claims.map(claim => entryText(entryOf(claim)))),
    present: union(application.status?.inventory ?? [], owned.map(entryOf)),
    pods: caches.pods.byIndex(applicationIndex, `${namespace}/${name}`).filter(pod => jobOfPod(pod) === undefined),
    releases: releaseFacts(caches, application),
  }
}

/** Newest first. */
function releaseHeaders({ releases }: ApplicationCaches, { metadata: { uid = '' } }: Application): readonly ReleaseHeader[] {
  return releases.byIndex(ownerIndex, uid).toSorted((a, b) => b.spec.number - a.spec.number)
}

function releaseFacts(caches: ApplicationCaches, application: Application): ReleaseFacts {
  const { namespace = '', name, uid = '' } = application.metadata
  const jobs = caches.jobs.byIndex(ownerIndex, uid).filter(job => releaseOfJob(job) !== undefined)
  const podsOfJobs = jobs.flatMap(job => {
    const [pod] = caches.pods.byIndex(jobIndex, `${namespace}/${job.metadata.name}`)
    return pod === undefined ? [] : [[job.metadata.name, pod] as const]
  })
  return {
    headers: releaseHeaders(caches, application),
    jobs,
    podsOfJobs: new Map(podsOfJobs),
    syncs: caches.remoteSyncs.byIndex(syncIndex, `${namespace}/${name}`),
    secretVersions: secretVersions(application.spec, secretFacts(caches, application)),
  }
}

function secretFacts({ appSecrets }: ApplicationCaches, { spec, metadata: { namespace = '' } }: Application): SecretFacts {
  const found = usedSecrets(spec).map(name => [name, appSecrets.get({ namespace, name })] as const)
  return new Map(found.filter(([, appSecret]) => appSecret?.metadata.deletionTimestamp === undefined))
}

/** A label alone does not make an Ingress ours: outside of tenants' namespaces other users may set it. */
function isForeign(ingress: Ingress): boolean {
  return controllingKey(ingress, applications) === undefined
}

function hostFacts({ caches, ingress, reservedHosts, redirectAnnotations }: GatherDeps, application: Application): HostFacts {
  const hosts = wantedHosts(application, ingress)
  const [tenant] = caches.tenants.byIndex(namespaceIndex, application.metadata.namespace ?? '')
  const claims = hosts.flatMap(host => {
    const claim = caches.claims.get({ name: host })
    return claim === undefined ? [] : [[host, claim] as const]
  })
  const served = hosts.filter(
    host =>
      caches.foreignIngresses.byIndex(hostIndex, host).length > 0 || caches.ingresses.byIndex(hostIndex, host).some(isForeign),
  )
  return {
    application,
    ingress,
    tenant,
    usersOfHost: new Map(hosts.map(host => [host, caches.applications.byIndex(hostIndex, host)])),
    claims: new Map(claims),
    reservedHosts,
    foreignHosts: new Set(served),
    redirectAnnotations,
  }
}
