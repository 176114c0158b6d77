// Asks the server of a ServiceClass each minute, closes what everybody could enter there, and reports. The class stays, while
// it is being deleted, until no ServiceInstance or Bucket has it: what they are on the server could not be reached any more.
import type { KubeObject } from '../../api/resource.ts'
import { type ServiceClass, serviceClass as serviceClasses } from '../../api/services/service-class.ts'
import { reconcileWithFinalizer } from '../../controllers/kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../../controllers/kit/status-writer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Looks } from '../looks/looks.ts'
import { leave } from '../providers/by-type.ts'
import { troubleOf } from '../server-error.ts'
import type { Servers } from '../servers.ts'
import { decide } from './decide.ts'
import { gather } from './gather.ts'
import { endingStatus, nextStatus } from './status.ts'

export type ServiceClassDeps = {
  readonly cache: Pick<Cache<ServiceClass>, 'get'>
  /** The ServiceInstances and Buckets of a class. */
  readonly servicesOf: (serviceClass: string) => readonly KubeObject[]
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly status: StatusWriter<ServiceClass>
  readonly servers: Servers
  readonly looks: Pick<Looks, 'at'>
  readonly clock: Clock
}

export const fieldManager = 'sekisho.dev/service-class'
export const finalizer = 'sekisho.dev/service-class'
/** Secrets of `sekisho-data` are not watched: a password that was corrected is found so. */
const askAgainMilliseconds = 60_000
const troubledMilliseconds = 10_000

async function keep(deps: ServiceClassDeps, serviceClass: ServiceClass): Promise<Outcome> {
  const facts = await gather(deps, serviceClass)
  const decision = decide(facts)
  await deps.status.write(serviceClass, nextStatus(facts, decision, deps.clock.now()))
  const again = facts.seen?.restMilliseconds ?? askAgainMilliseconds
  return requeueAfter(decision.refusal === undefined ? again : troubledMilliseconds)
}

async function end(deps: ServiceClassDeps, serviceClass: ServiceClass): Promise<Outcome | undefined> {
  const { name } = serviceClass.metadata
  const { length } = deps.servicesOf(name)
  // A process that has just started is not connected: services that are being deleted need the server, and so does its end.
  if (deps.servers.of(name, serviceClass.spec.type) === undefined) await gather(deps, serviceClass)
  if (length > 0) {
    await deps.status.write(serviceClass, endingStatus(serviceClass, length, deps.clock.now()))
    return requeueAfter(askAgainMilliseconds)
  }
  await leaveServer(deps, serviceClass)
  await deps.servers.forget(name)
  return undefined
}

/** A server that does not answer keeps what the platform had there: a class goes, whatever became of its server. */
async function leaveServer({ servers }: ServiceClassDeps, { metadata, spec }: ServiceClass): Promise<void> {
  const opened = servers.of(metadata.name, spec.type)
  try {
    if (opened !== undefined) await leave(opened)
  } catch (error) {
    troubleOf(error)
  }
}

/** Idempotent. */
export function reconcileServiceClass(deps: ServiceClassDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: serviceClasses, finalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
