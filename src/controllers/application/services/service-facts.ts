// What the caches know of the services that an Application uses: its entries with their ServiceBindings, services and classes,
// and what its pods must reach. Look-ups only.

import type { Application } from '../../../api/apps/application.ts'
import { ownedBindingName, type ServiceUse, serviceOf } from '../../../api/services/application-services.ts'
import type { Bucket } from '../../../api/services/bucket.ts'
import { portOf } from '../../../api/services/provider.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import type { ServiceInstance } from '../../../api/services/service-instance.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { ownerIndex } from '../caches.ts'

/** One entry of `spec.services`. What is being deleted counts as absent. */
export type ServiceEntry = {
  readonly use: ServiceUse
  /** Of the ServiceBinding that it must have. */
  readonly bindingName: string
  /** Where the Application controls it. */
  readonly binding: ServiceBinding | undefined
  /** What the entry names. */
  readonly service: ServiceInstance | Bucket | undefined
  /** It is there, and is being deleted: that waits for the ServiceBindings. */
  readonly serviceEnds?: true
  readonly serviceClass: ServiceClass | undefined
}

/** What pods reach because of a service. */
export type Reach = { readonly cidrs: readonly string[]; readonly port: number }

export type ServiceFacts = {
  readonly services: readonly ServiceEntry[]
  /** Every ServiceBinding that the Application controls, also of an entry that is gone: pods that still run may use it. */
  readonly bindings: readonly ServiceBinding[]
  /** Of those of these bindings that have a credential, sorted, each once. */
  readonly reach: readonly Reach[]
  /** Why the cluster does not take a ServiceBinding; found by `ensureBindings`. */
  readonly bindingRefusal?: Refusal
}

export type ServiceCaches = {
  readonly serviceBindings: Pick<Cache<ServiceBinding>, 'byIndex'>
  readonly serviceInstances: Pick<Cache<ServiceInstance>, 'get'>
  readonly buckets: Pick<Cache<Bucket>, 'get'>
  readonly serviceClasses: Pick<Cache<ServiceClass>, 'get'>
}

function present<T extends ServiceBinding | ServiceInstance | Bucket | ServiceClass>(object: T | undefined): T | undefined {
  return object?.metadata.deletionTimestamp === undefined ? object : undefined
}

/** What a class opens; undefined for none. */
export function reachOf(serviceClass: ServiceClass | undefined): Reach | undefined {
  return serviceClass && { cidrs: serviceClass.spec.reach.cidrs, port: portOf(serviceClass) }
}

function eachOnce(all: readonly Reach[]): readonly Reach[] {
  return [...new Map(all.map(one => [JSON.stringify(one), one] as const))]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([, one]) => one)
}

export function serviceFacts(caches: ServiceCaches, { metadata, spec }: Application): ServiceFacts {
  const { namespace = '', name: application, uid = '' } = metadata
  const bindings = caches.serviceBindings.byIndex(ownerIndex, uid)
  const named = ({ kind, name }: ServiceBinding['spec']['service']) =>
    kind === 'Bucket' ? caches.buckets.get({ namespace, name }) : caches.serviceInstances.get({ namespace, name })
  const classOf = (service: ServiceInstance | Bucket | undefined) =>
    service && caches.serviceClasses.get({ name: service.spec.class })
  const services = (spec.services ?? []).map(use => {
    const bindingName = ownedBindingName(application, use)
    const found = named(serviceOf(use))
    const service = present(found)
    const binding = present(bindings.find(one => one.metadata.name === bindingName))
    const ends = found !== undefined && service === undefined ? ({ serviceEnds: true } as const) : {}
    return { use, bindingName, binding, service, ...ends, serviceClass: present(classOf(service)) }
  })
  // Pods use what is being deleted until nothing of it is left. Without a credential, which a service of a class that is not
  // offered to the tenant never gets, there is no way to its server either.
  const delivered = bindings.filter(({ status }) => status?.binding !== undefined)
  const reach = delivered.flatMap(one => reachOf(classOf(named(one.spec.service))) ?? [])
  return { services, bindings, reach: eachOnce(reach) }
}
