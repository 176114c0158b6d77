// The caches of the Application controller and their indexes, by which reconciles and wakes find what belongs to an Application.
import { appSecret } from '../../api/apps/app-secret.ts'
import { usedSecrets } from '../../api/apps/application/secret-uses.ts'
import { application } from '../../api/apps/application.ts'
import { applicationChart } from '../../api/apps/application-chart.ts'
import { type ReleaseHeader, release } from '../../api/apps/release.ts'
import { applicationsOf } from '../../api/apps/remote-sync/applications.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import {
  configMaps,
  cronJobs,
  deployments,
  horizontalPodAutoscalers,
  hostsOfIngress,
  ingresses,
  jobs,
  type Pod,
  persistentVolumeClaims,
  pods,
  services,
} from '../../api/builtin/index.ts'
import { halt } from '../../api/github/halt.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { jobNameLabel, labels } from '../../api/names.ts'
import { isOf, type KubeObject, type ResourceType } from '../../api/resource.ts'
import { serviceOf } from '../../api/services/application-services.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { domainClaim } from '../../api/tenancy/domain-claim.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Manager } from '../../kube/manager.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { type IngressAddress, wantedHosts } from './domains/hosts.ts'
import { namesOfTags } from './image/followed-tag.ts'

/** Selects the objects that carry the label: only those of Applications are cached. */
export const applicationSelector = labels.application

/** Applications by the hosts that they want, Ingresses by those that they serve. */
export const hostIndex = 'host'
/** Tenants by the namespace that they have. */
export const namespaceIndex = 'application/namespace'
/** Applications by the name of their chart. */
export const chartIndex = 'chart'
/** Halts by their namespace. */
export const haltIndex = 'application/halt'
/** Applications by the `namespace/name` of the AppSecrets that they use. */
export const secretIndex = 'application/secret'
/** Applications by the `kind/namespace/name` of the ServiceInstances and Buckets that they use. */
export const serviceIndex = 'application/service'
/** ServiceInstances and Buckets by the name of their class. */
export const serviceClassIndex = 'application/service-class'
/** Applications that follow a tag, by their namespace. */
export const followingIndex = 'application/following'
/** Applications by the name of the tag that they follow. */
export const tagIndex = 'application/tag'
/** RepositoryGrants by the UIDs of the Applications that they are bound to. */
export const grantIndex = 'application/grant'
export const applicationIndex = 'application'
export const ownerIndex = 'owner'
export const jobIndex = 'job'
/** RemoteSyncs by their Applications. */
export const syncIndex = 'application/sync'

export const labelled = { labelSelector: applicationSelector }
/** Ingresses of the whole cluster without the label of Applications. */
export const foreign = { labelSelector: `!${labels.application}` }

/** Call before the manager starts. */
export function cachesOf(manager: Pick<Manager, 'cache'>, platformNamespace: string) {
  const releases: Cache<ReleaseHeader> = manager.cache(release, labelled)
  return {
    applications: manager.cache(application),
    charts: manager.cache(applicationChart),
    configMaps: manager.cache(configMaps, { namespace: platformNamespace }),
    deployments: manager.cache(deployments, labelled),
    services: manager.cache(services, labelled),
    ingresses: manager.cache(ingresses, labelled),
    cronJobs: manager.cache(cronJobs, labelled),
    autoscalers: manager.cache(horizontalPodAutoscalers, labelled),
    volumeClaims: manager.cache(persistentVolumeClaims, labelled),
    pods: manager.cache(pods, labelled),
    releases,
    /** Those of charts and release jobs. */
    jobs: manager.cache(jobs, labelled),
    remoteSyncs: manager.cache(remoteSync),
    tenants: manager.cache(tenant),
    claims: manager.cache(domainClaim),
    halts: manager.cache(halt),
    grants: manager.cache(repositoryGrant),
    appSecrets: manager.cache(appSecret),
    /** Those of Applications. */
    serviceBindings: manager.cache(serviceBinding, labelled),
    serviceInstances: manager.cache(serviceInstance),
    buckets: manager.cache(bucket),
    serviceClasses: manager.cache(serviceClass),
    foreignIngresses: manager.cache(ingresses, foreign),
  }
}

export type ApplicationCaches = ReturnType<typeof cachesOf>

/**
 * Call once, before the caches start. The host index also holds the platform's own names for Applications: others can claim
 * them, too.
 */
export function addApplicationIndexes(caches: ApplicationCaches, ingress: IngressAddress): void {
  caches.applications.addIndex(hostIndex, application => wantedHosts(application, ingress))
  caches.ingresses.addIndex(hostIndex, hostsOfIngress)
  caches.foreignIngresses.addIndex(hostIndex, hostsOfIngress)
  caches.tenants.addIndex(namespaceIndex, ({ status }) => (status?.namespace === undefined ? [] : [status.namespace]))
  caches.halts.addIndex(haltIndex, ({ metadata }) => [metadata.namespace ?? ''])
  caches.applications.addIndex(chartIndex, application => [application.spec.chart])
  caches.applications.addIndex(secretIndex, ({ metadata, spec }) =>
    usedSecrets(spec).map(name => `${metadata.namespace}/${name}`),
  )
  caches.applications.addIndex(serviceIndex, ({ metadata, spec }) =>
    (spec.services ?? []).map(serviceOf).map(({ kind, name }) => `${kind}/${metadata.namespace}/${name}`),
  )
  caches.serviceInstances.addIndex(serviceClassIndex, ({ spec }) => [spec.class])
  caches.buckets.addIndex(serviceClassIndex, ({ spec }) => [spec.class])
  caches.serviceBindings.addIndex(ownerIndex, ownersOf)
  caches.applications.addIndex(followingIndex, ({ metadata, spec }) =>
    spec.followTag === true ? [metadata.namespace ?? ''] : [],
  )
  caches.applications.addIndex(tagIndex, namesOfTags)
  caches.grants.addIndex(grantIndex, ({ status }) => (status?.applications ?? []).map(({ uid }) => uid))
  const ofApplication = ({ metadata }: KubeObject): readonly string[] => [
    `${metadata.namespace}/${metadata.labels?.[labels.application] ?? ''}`,
  ]
  caches.pods.addIndex(applicationIndex, ofApplication)
  caches.volumeClaims.addIndex(applicationIndex, ofApplication)
  caches.pods.addIndex(jobIndex, pod => (jobOfPod(pod) === undefined ? [] : [`${pod.metadata.namespace}/${jobOfPod(pod)}`]))
  caches.remoteSyncs.addIndex(syncIndex, ({ metadata, spec }) =>
    applicationsOf(spec).map(name => `${metadata.namespace}/${name}`),
  )
  caches.releases.addIndex(ownerIndex, ownersOf)
  caches.jobs.addIndex(ownerIndex, ownersOf)
  for (const { cacheIn } of cachedKinds) cacheIn(caches).addIndex(ownerIndex, ownersOf)
}

/**
 * The kinds of children that are cached. A child of these kinds is found by its owner even when a crash kept it out of the
 * inventory.
 */
export const cachedKinds: readonly {
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
export function isFoundByOwner(object: Pick<ResourceType, 'apiVersion' | 'kind'>): boolean {
  return !isOf(persistentVolumeClaims, object) && cachedKinds.some(({ type }) => isOf(type, object))
}

function ownersOf(child: KubeObject): readonly string[] {
  const owner = controllerOf(child)
  return owner === undefined ? [] : [owner.uid]
}

/** Pods of Jobs are not pods of processes: they end, and a failed one is not a process that crashes. */
export function jobOfPod(pod: Pod): string | undefined {
  return pod.metadata.labels?.[jobNameLabel]
}
