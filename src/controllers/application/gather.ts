// Reads everything an Application's reconcile must know, from caches only, into one value. Never writes, never throws on absence.
import type { Application } from '../../api/apps/application.ts'
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
import type { Cache } from '../../kube/cache/object-cache.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { hostsOf, type IngressAddress } from './hosts.ts'
import { entryOf, type InventoryEntry, union } from './objects/inventory.ts'

/** Objects that carry the label: those of Applications, and nothing else of the cluster, are cached. */
export const applicationSelector = labels.application

export const domainIndex = 'domain'
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
}

/** Once, before the caches start. The index of domains holds the names that the platform gives, too: they can be taken as well. */
export function addApplicationIndexes(caches: ApplicationCaches, ingress: IngressAddress): void {
  caches.applications.addIndex(domainIndex, application => hostsOf(application, ingress))
  caches.applications.addIndex(chartIndex, application => [application.spec.chart])
  caches.pods.addIndex(applicationIndex, pod => [`${pod.metadata.namespace}/${pod.metadata.labels?.[labels.application] ?? ''}`])
  for (const { cacheIn } of cachedKinds) cacheIn(caches).addIndex(ownerIndex, ownersOf)
}

/** The kinds of children that are cached. One of them that was made shortly before a crash is not lost without an inventory. */
const cachedKinds: readonly {
  readonly type: ResourceType
  readonly cacheIn: (caches: ApplicationCaches) => Cache<KubeObject>
}[] = [
  { type: deployments, cacheIn: caches => caches.deployments },
  { type: services, cacheIn: caches => caches.services },
  { type: ingresses, cacheIn: caches => caches.ingresses },
]

function cachedKindOf({ apiVersion, kind }: InventoryEntry) {
  return cachedKinds.find(({ type }) => type.apiVersion === apiVersion && type.kind === kind)
}

/** Objects of these kinds are found by their owner. */
export function isFoundByOwner(entry: InventoryEntry): boolean {
  return cachedKindOf(entry) !== undefined
}

function ownersOf(child: KubeObject): readonly string[] {
  const owner = controllerOf(child)
  return owner === undefined ? [] : [owner.uid]
}

export type Facts = {
  readonly application: Application
  readonly chart: ApplicationChart | undefined
  readonly configMap: (name: string) => ConfigMap | undefined
  readonly usersOfDomain: (domain: string) => readonly Application[]
  /** The cached object of an inventory entry; undefined also for kinds that are not cached. */
  readonly cached: (entry: InventoryEntry) => KubeObject | undefined
  /** What it has: what its inventory names, and what of the cached kinds names it as controller. */
  readonly present: readonly InventoryEntry[]
  readonly deployment: (name: string) => Deployment | undefined
  readonly pods: readonly Pod[]
}

/** undefined when there is no such Application. `latest` gives our own last write of one where the cache is behind it. */
export function gather(
  caches: ApplicationCaches,
  platformNamespace: string,
  key: ObjectKey,
  latest: (cached: Application) => Application,
): Facts | undefined {
  const cached = caches.applications.get(key)
  if (!cached) return undefined
  const application = latest(cached)
  const { namespace = '', name, uid = '' } = application.metadata
  return {
    application,
    chart: caches.charts.get({ name: application.spec.chart }),
    configMap: configMap => caches.configMaps.get({ namespace: platformNamespace, name: configMap }),
    usersOfDomain: domain => caches.applications.byIndex(domainIndex, domain),
    cached: entry => cachedKindOf(entry)?.cacheIn(caches).get({ namespace, name: entry.name }),
    present: union(
      application.status?.inventory ?? [],
      cachedKinds.flatMap(({ cacheIn }) => cacheIn(caches).byIndex(ownerIndex, uid).map(entryOf)),
    ),
    deployment: deployment => caches.deployments.get({ namespace, name: deployment }),
    pods: caches.pods.byIndex(applicationIndex, `${namespace}/${name}`),
  }
}
