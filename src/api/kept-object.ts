// What is kept of an object in memory. A cache of all namespaces holds what tenants write, up to the 1.5 MB that etcd takes for
// each object, so what is kept is bounded: metadata above 16 KB is cut to what the platform reads, and the content of a large
// object of a built-in kind is dropped. The content of our own kinds is bounded by their schemas; the snapshot of a Release is
// dropped, because an Application has up to 100 Releases and runs one. Of an EndpointSlice only its Service and the number of
// its endpoints are kept. Pure.
import { defined } from '../lib/json/defined.ts'
import { type CountedEndpointSlice, type EndpointSlice, serviceNameLabel } from './builtin/networking.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from './resource.ts'
import { serviceProxyLabel } from './tenancy/service-proxy.ts'

const maxMetadata = 16 * 1024
const maxEntries = 20
const maxText = 1024
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const own = 'sekisho.dev/'

/**
 * Without bookkeeping that no reader uses, and without what is above the bounds. `maxContent`: characters of an object of a
 * built-in kind.
 */
export function keptObject<T extends KubeObject>(object: T, maxContent = Number.POSITIVE_INFINITY): T {
  if (object.kind === 'EndpointSlice')
    return countedSlice(object as KubeObject as EndpointSlice | CountedEndpointSlice) as KubeObject as T
  const slim = withoutSnapshot(withoutBookkeeping(object))
  const { apiVersion, kind, metadata: given, ...content } = slim
  const metadata = sizeAbove(given, maxMetadata) ? cut(given) : given
  const isOwn = apiVersion.includes(own)
  if (isOwn || maxContent === Number.POSITIVE_INFINITY || !sizeAbove(content, maxContent))
    return metadata === given ? slim : { ...slim, metadata }
  // All content of the kinds that are cached for all namespaces is optional for readers, because objects of tenants may lack
  // anything.
  return { apiVersion, kind, metadata } as T
}

/** Two thirds of a typical object's size. */
function withoutBookkeeping<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata
  if (!('managedFields' in object.metadata) && annotations?.[lastApplied] === undefined) return object
  const { managedFields: _, ...metadata }: T['metadata'] & { readonly managedFields?: unknown } = object.metadata
  if (annotations?.[lastApplied] === undefined) return { ...object, metadata }
  const { [lastApplied]: __, ...others } = annotations
  return { ...object, metadata: { ...metadata, annotations: others } }
}

/** Whoever runs a Release reads it from the API server (src/controllers/application/releases/snapshots.ts). */
function withoutSnapshot<T extends KubeObject>(object: T): T {
  if (object.kind !== 'Release' || !object.apiVersion.includes(own)) return object
  const { spec, ...rest } = object as T & { readonly spec?: { readonly snapshot?: unknown } }
  if (spec?.snapshot === undefined) return object
  const { snapshot: _, ...kept } = spec
  return { ...rest, spec: kept } as unknown as T
}

/** A hundred endpoints are 30 KB, of which their number is read. What was counted stays as it is. */
function countedSlice(slice: EndpointSlice | CountedEndpointSlice): CountedEndpointSlice {
  if ('endpointCount' in slice) return slice
  const { apiVersion, kind, metadata, endpoints } = slice
  const { name, namespace, uid, resourceVersion, labels = {} } = metadata
  const service = labels[serviceNameLabel]
  const named = { ...defined({ [serviceNameLabel]: service }), ...proxyOf(labels) }
  const { ownerReferences: owners } = metadata
  const kept = {
    name,
    namespace,
    uid,
    resourceVersion,
    labels: named,
    ...(owners ? { ownerReferences: controlling(owners) } : {}),
  }
  return { apiVersion, kind, metadata: kept as ObjectMeta, endpointCount: endpoints?.length ?? 0 }
}

/**
 * Whether the texts in a value have more characters than `most`; each entry counts for eight more. Stops as soon as it is
 * known.
 */
function sizeAbove(value: unknown, most: number): boolean {
  let left = most
  const take = (item: unknown): void => {
    left -= typeof item === 'string' ? item.length + 8 : 8
    if (left < 0 || typeof item !== 'object' || item === null) return
    for (const [key, inner] of Object.entries(item)) {
      left -= key.length
      take(inner)
      if (left < 0) return
    }
  }
  take(value)
  return left < 0
}

function cut(metadata: ObjectMeta): ObjectMeta {
  const { labels, annotations, finalizers, ownerReferences, ...rest } = metadata
  return {
    ...rest,
    ...(labels ? { labels: { ...ownEntries(labels), ...proxyOf(labels) } } : {}),
    ...(annotations ? { annotations: ownEntries(annotations) } : {}),
    ...(finalizers ? { finalizers: ownFirst(finalizers) } : {}),
    ...(ownerReferences ? { ownerReferences: controlling(ownerReferences) } : {}),
  }
}

/** One that controls counts; the API server allows no second. */
function controlling(owners: readonly OwnerReference[]): readonly OwnerReference[] {
  return owners.filter(({ controller }) => controller).slice(0, 1)
}

function ownEntries(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept = Object.entries(entries).filter(([key, text]) => key.includes(own) && text.length <= maxText)
  return Object.fromEntries(kept.slice(0, maxEntries))
}

function proxyOf({ [serviceProxyLabel]: proxy }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return proxy === undefined ? {} : { [serviceProxyLabel]: proxy }
}

function ownFirst(finalizers: readonly string[]): readonly string[] {
  const others = finalizers.filter(name => !name.includes(own))
  return [...finalizers.filter(name => name.includes(own)).slice(0, maxEntries), ...others.slice(0, maxEntries)]
}
