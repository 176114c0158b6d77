// Reads everything that an Application's reconcile needs to know, from caches only, into one value. Never writes, never throws on absence.
// It runs for each Application on each wake: index look-ups only, never a whole list.
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import {
  type ConfigMap,
  type Deployment,
  deployments,
  type Ingress,
  ingresses,
  type Pod,
  type Service,
  services,
} from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import type { DomainClaim } from '../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { type ChartLookup, findChartSource } from '../../charts/chart-source.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { controllerOf, controllingKey } from '../../kube/object/owner.ts'
import type { RegistryPlace } from '../../registry/image-place.ts'
import type { StatusWriter } from '../status-writer.ts'
import { type HostFacts, hostsOf, hostsOfIngress, type IngressAddress } from './hosts.ts'
import { entryOf, entryText, type InventoryEntry, union } from './objects/inventory.ts'

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
const applicationIndex = 'application'
const ownerIndex = 'owner'

export type ApplicationCaches = {
  readonly applications: Cache<Application>
  readonly charts: Cache<ApplicationChart>
  /** ConfigMaps of the platform namespace. */
  readonly configMaps: Cache<ConfigMap>
  readonly deployments: Cache<Deployment>
  readonly services: Cache<Service>
  readonly ingresses: Cache<Ingress>
  readonly pods: Cache<Pod>
  readonly tenants: Cache<Tenant>
  readonly claims: Cache<DomainClaim>
  /** Ingresses of the whole cluster without the label of Applications. */
  readonly foreignIngresses: Cache<Ingress>
}

/** Call once, before the caches start. The host index of Applications also holds the platform's own names for Applications: others can claim them, too. */
export function addApplicationIndexes(caches: ApplicationCaches, ingress: IngressAddress): void {
  caches.applications.addIndex(hostIndex, application => hostsOf(application, ingress))
  caches.ingresses.addIndex(hostIndex, hostsOfIngress)
  caches.foreignIngresses.addIndex(hostIndex, hostsOfIngress)
  caches.tenants.addIndex(namespaceIndex, ({ status }) => (status?.namespace === undefined ? [] : [status.namespace]))
  caches.applications.addIndex(chartIndex, application => [application.spec.chart])
  caches.pods.addIndex(applicationIndex, pod => [`${pod.metadata.namespace}/${pod.metadata.labels?.[labels.application] ?? ''}`])
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
]

/** Whether objects of this kind are found by their owner, without the inventory. */
export function isFoundByOwner({ apiVersion, kind }: InventoryEntry): boolean {
  return cachedKinds.some(({ type }) => type.apiVersion === apiVersion && type.kind === kind)
}

function ownersOf(child: KubeObject): readonly string[] {
  const owner = controllerOf(child)
  return owner === undefined ? [] : [owner.uid]
}

/** The platform's image registry, and the Secret with which pods pull from it; none when it asks for no credential. */
export type ImageRegistry = { readonly place: RegistryPlace; readonly pullSecret: string | undefined }

/** What decides about an Application: plain values, as the caches held them at one time. */
export type Facts = HostFacts & {
  readonly registry: ImageRegistry
  /** Its ApplicationChart, and where the code of that is; undefined when there is no ApplicationChart of that name. */
  readonly chart: { readonly timeoutSeconds: number; readonly lookup: ChartLookup } | undefined
  /** The cached objects whose controller is this Application, by uid, under their `entryText`. */
  readonly children: ReadonlyMap<string, KubeObject>
  /** What the Application has: its inventory and its cached children. */
  readonly present: readonly InventoryEntry[]
  readonly pods: readonly Pod[]
}

export type GatherDeps = {
  readonly caches: ApplicationCaches
  readonly platformNamespace: string
  readonly ingress: IngressAddress
  readonly reservedHosts: readonly string[]
  readonly registry: ImageRegistry
  readonly status: Pick<StatusWriter<Application>, 'latest'>
}

/** Undefined when the cache has no such Application. */
export function gather(deps: GatherDeps, key: ObjectKey): Facts | undefined {
  const { caches, platformNamespace, registry, status } = deps
  const cached = caches.applications.get(key)
  if (!cached) return undefined
  const application = status.latest(cached)
  const { namespace = '', name, uid = '' } = application.metadata
  const chart = caches.charts.get({ name: application.spec.chart })
  const owned = cachedKinds.flatMap(({ cacheIn }) => cacheIn(caches).byIndex(ownerIndex, uid))
  return {
    ...hostFacts(deps, application),
    registry,
    chart: chart && {
      timeoutSeconds: chart.spec.timeoutSeconds,
      lookup: findChartSource(chart, configMap => caches.configMaps.get({ namespace: platformNamespace, name: configMap })),
    },
    children: new Map(owned.map(child => [entryText(entryOf(child)), child])),
    present: union(application.status?.inventory ?? [], owned.map(entryOf)),
    pods: caches.pods.byIndex(applicationIndex, `${namespace}/${name}`),
  }
}

/** A label alone does not make an Ingress ours: outside of tenants' namespaces other users may set it. */
function isForeign(ingress: Ingress): boolean {
  return controllingKey(ingress, applications) === undefined
}

function hostFacts({ caches, ingress, reservedHosts }: GatherDeps, application: Application): HostFacts {
  const hosts = hostsOf(application, ingress)
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
  }
}
