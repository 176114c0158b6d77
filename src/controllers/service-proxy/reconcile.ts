// Sets the label that takes a Service away from kube-proxy on those beyond the bound of their tenant, and takes it off when they fit again. The only file
// here that writes, and it writes nothing but this label. It never creates a Service, and never changes another one of that name.
import { type Service, services } from '../../api/builtin/index.ts'
import type { ObjectKey } from '../../api/resource.ts'
import { serviceProxyLabel, tooManyEndpoints } from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { KeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { type Change, decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { eventOf } from './messages.ts'
import type { OwnWrites } from './own-writes.ts'

export type ServiceProxyDeps = Pick<GatherDeps, 'servicesIn' | 'slicesIn' | 'quotasIn'> & {
  readonly client: Pick<KubeClient, 'apply' | 'mergePatch'>
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  readonly ownWrites: OwnWrites
  /** By namespace: how often labels are taken off. Setting one waits for nothing, and a Service gets it again only after it was taken off. */
  readonly releases: KeyedBuckets
  readonly events: Pick<EventRecorder, 'record'>
}

const fieldManager = 'sekisho.dev/service-proxy'
/** Kubernetes writes slices from five workers: one label after the other would not keep up with a burst. */
const writesAtOnce = 10

/** Idempotent: a second run writes nothing. The key is that of a Tenant. */
export async function reconcileServiceProxy(
  deps: ServiceProxyDeps,
  { key, signal }: Pick<ReconcileContext, 'key' | 'signal'>,
): Promise<Outcome> {
  const tenant = deps.tenants.get(key)
  if (tenant === undefined) return done
  const { namespace } = tenant.spec
  const facts = gather({ ...deps, latest: deps.ownWrites.latest }, tenant)
  const decision = decide(facts)
  const keyOf = ({ service }: Change): ObjectKey => ({ namespace, name: service.name })
  const record = (change: Change, written: Service | undefined): void => {
    if (written === undefined) return
    deps.ownWrites.written(written)
    deps.events.record(written, eventOf(change, decision, facts))
  }
  const beyond = decision.changes.filter(change => change.beyond)
  for (let next = 0; next < beyond.length; next += writesAtOnce) {
    signal.throwIfAborted()
    const some = beyond.slice(next, next + writesAtOnce)
    await Promise.all(some.map(async change => record(change, await setLabel(deps, keyOf(change), change.service.uid))))
  }
  for (const change of decision.changes.slice(beyond.length)) {
    signal.throwIfAborted()
    const wait = deps.releases.take(namespace)
    if (wait > 0) return requeueAfter(wait)
    record(change, await removeLabel(deps, keyOf(change), change.service.uid))
  }
  return done
}

/** Undefined when the Service is gone. */
async function setLabel({ client }: ServiceProxyDeps, key: ObjectKey, uid: string): Promise<Service | undefined> {
  const { apiVersion, kind } = services
  const metadata = { ...key, uid, labels: { [serviceProxyLabel]: tooManyEndpoints } }
  try {
    return await client.apply(services, { apiVersion, kind, metadata }, { fieldManager, force: true })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Not by an apply: whoever applied the same label would keep it there. Undefined when the Service is gone. */
async function removeLabel({ client }: ServiceProxyDeps, key: ObjectKey, uid: string): Promise<Service | undefined> {
  try {
    return await client.mergePatch(services, key, { metadata: { uid, labels: { [serviceProxyLabel]: null } } }, { fieldManager })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}
