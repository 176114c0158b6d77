// Takes Services away from kube-proxy by a label when they are beyond the bound of their tenant, and gives it those that are
// counted and fit. The only file here that writes, and it writes nothing but this label. It never creates a Service, and never
// changes another one of that name or a newer version than it judged.
import { type Service, services } from '../../api/builtin/index.ts'
import { serviceProxyLabel, tooManyEndpoints, uncountedAgain } from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { KeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { type Change, decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { eventOf } from './messages.ts'
import type { OwnWrites } from './own-writes.ts'

export type ServiceProxyDeps = Pick<GatherDeps, 'servicesIn' | 'slicesIn'> & {
  readonly client: Pick<KubeClient, 'mergePatch'>
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  readonly ownWrites: OwnWrites
  /**
   * By namespace: Kubernetes writes the slices of a Service again for each label, at most 20 a second for all tenants together.
   * Whatever does not take a Service away from kube-proxy waits for its turn: one of each new Service and of each change.
   */
  readonly pace: KeyedBuckets
  readonly events: Pick<EventRecorder, 'record'>
}

const fieldManager = 'sekisho.dev/service-proxy'
/** Kubernetes writes slices from five workers: one label after the other would not keep up with a burst. */
const writesAtOnce = 10
/** The cache shows a newer version in a moment, and may not report it as a change. */
const untilNewer = 100

const values = { beyond: tooManyEndpoints, again: uncountedAgain, served: null } as const

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
  let outcome: Outcome = done
  const change = async (one: Change): Promise<void> => {
    const written = await writeLabel(deps, namespace, one)
    if (written === 'newer') outcome = requeueAfter(untilNewer)
    if (written === 'newer' || written === 'gone') return
    deps.ownWrites.written(written)
    const event = eventOf(one, decision, facts)
    if (event !== undefined) deps.events.record(written, event)
  }
  const { allowed, wait } = paced(decision.changes, () => deps.pace.take(namespace))
  for (let next = 0; next < allowed.length; next += writesAtOnce) {
    signal.throwIfAborted()
    await Promise.all(allowed.slice(next, next + writesAtOnce).map(change))
  }
  if (wait === 0) return outcome
  return requeueAfter(outcome === done ? wait : Math.min(wait, untilNewer))
}

/**
 * Takes a Service away from kube-proxy, or ends what has been paced already: a new Service with endpoints had its `again`
 * before.
 */
const waitsForNothing = ({ to, service: { label } }: Change): boolean =>
  to === 'beyond' ? label !== 'changed' : to === 'served' && label === 'new'

/**
 * The changes for which there are tokens, in their order, and the milliseconds until the next one has its token; 0 when all
 * have.
 */
function paced(changes: readonly Change[], take: () => number): { readonly allowed: readonly Change[]; readonly wait: number } {
  const allowed: Change[] = []
  let wait = 0
  for (const one of changes) {
    const free = waitsForNothing(one)
    if (!free && wait === 0) wait = take()
    if (free || wait === 0) allowed.push(one)
  }
  return { allowed, wait }
}

/**
 * Not by an apply: a tenant may have applied the same label, and would keep it there. Only on the version that was judged: a
 * change of the spec since then has made the count worthless.
 */
async function writeLabel(
  { client }: ServiceProxyDeps,
  namespace: string,
  { service: { name, uid, resourceVersion }, to }: Change,
): Promise<Service | 'gone' | 'newer'> {
  const metadata = { uid, resourceVersion, labels: { [serviceProxyLabel]: values[to] } }
  try {
    return (await client.mergePatch(services, { namespace, name }, { metadata }, { fieldManager })) ?? 'gone'
  } catch (error) {
    if (isGone(error)) return 'gone'
    if (isKubeError(error, 409)) return 'newer'
    throw error
  }
}
