// Keeps the database of a ServiceInstance. The only file here that writes. Order: the name on the server into the status,
// then the database: after a crash the next run finds what this one made. A database is deleted only when the object says so,
// when no ServiceBinding uses it any more, and by the name that the status has.

import { defaultConnections } from '../../api/services/service-class.ts'
import {
  serviceInstanceReasons as reasons,
  type ServiceInstance,
  serviceInstance as serviceInstances,
} from '../../api/services/service-instance.ts'
import { reconcileWithFinalizer } from '../../controllers/kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../../controllers/kit/status-writer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropInstance, type Ensured, ensureExtensions, ensureInstance } from '../adapters/postgresql/instances.ts'
import { inUse, isSettled, unreadiness } from '../offer.ts'
import type { DataServicesParts } from '../parts.ts'
import type { OpenDatabases } from '../providers/provider.ts'
import { troubleOf } from '../server-error.ts'
import { type Decision, decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { nextStatus, type Observation } from './status.ts'

export type ServiceInstanceDeps = GatherDeps & {
  readonly cache: Pick<Cache<ServiceInstance>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly status: StatusWriter<ServiceInstance>
  readonly servers: DataServicesParts['servers']
  readonly usage: DataServicesParts['usage']
  readonly clock: Clock
}

export const fieldManager = 'sekisho.dev/service-instance'
export const finalizer = 'sekisho.dev/service-instance'
/** The size is looked at again: one query for all instances of a server. */
const measureMilliseconds = 60_000
const retryMilliseconds = 10_000
/** Until the controller of ServiceClasses has opened the server, after a start. */
const openMilliseconds = 1_000

type Kept = Extract<Decision, { kind: 'keep' }>

async function keep(deps: ServiceInstanceDeps, instance: ServiceInstance): Promise<Outcome> {
  const write = (on: ServiceInstance, observation: Observation): Promise<ServiceInstance> =>
    deps.status.write(on, nextStatus(on, observation, deps.clock.now()))
  const facts = gather(deps, instance)
  const decision = decide(facts)
  if (decision.kind === 'refused') {
    await write(instance, { refusal: decision })
    return done
  }
  const { id, plan } = decision
  const unready = facts.serviceClass && unreadiness(facts.serviceClass)
  if (unready !== undefined) {
    // A change of the class wakes it.
    await write(instance, { refusal: unready })
    return done
  }
  const opened = deps.servers.of(instance.spec.class, 'postgresql')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  const begun =
    instance.status?.externalId === id
      ? instance
      : await write(instance, {
          id,
          plan,
          provisioned: 'False',
          refusal: { reason: reasons.provisioning, message: 'the platform is making the database' },
        })
  const observation = await provision(deps, { instance: begun, opened, decision })
  const version = facts.serviceClass?.status?.version
  await write(begun, { id, plan, ...(version && { version }), ...observation })
  return requeueAfter(observation.refusal === undefined ? measureMilliseconds : retryMilliseconds)
}

type Provision = { readonly instance: ServiceInstance; readonly opened: OpenDatabases; readonly decision: Kept }

/** Makes it as it is wanted, or says why that was not possible. */
async function provision({ usage }: ServiceInstanceDeps, { instance, opened, decision }: Provision): Promise<Observation> {
  const { id, plan, extensions, mayCreate } = decision
  try {
    const ensured = await ensureInstance(
      opened.server,
      { id, connections: plan.limits.connections ?? defaultConnections },
      mayCreate,
    )
    const lost = lostObservation(ensured)
    if (lost !== undefined) return lost
    if (!isSettled(instance)) await ensureExtensions(opened.server, id, extensions)
    const storage = await usage(instance.spec.class, id)
    const endpoint = { host: opened.host, port: opened.port }
    return { provisioned: 'True', refusal: undefined, endpoint, ...(storage !== undefined && { storage }) }
  } catch (error) {
    const { kind, message } = troubleOf(error)
    return { refusal: { reason: kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable, message } }
  }
}

function lostObservation(ensured: Ensured): Observation | undefined {
  if (ensured === 'missing')
    return {
      provisioned: 'False',
      refusal: { reason: reasons.instanceMissing, message: 'the server does not have the database of this instance any more' },
    }
  if (ensured === 'foreign')
    return {
      provisioned: 'False',
      refusal: { reason: reasons.nameTaken, message: 'the server has a database of this name that the platform did not make' },
    }
  return undefined
}

async function end(deps: ServiceInstanceDeps, instance: ServiceInstance): Promise<Outcome | undefined> {
  const facts = gather(deps, instance)
  const write = (refusal: Observation['refusal']): Promise<ServiceInstance> =>
    deps.status.write(instance, nextStatus(instance, { refusal }, deps.clock.now()))
  const used = inUse(facts.bindings)
  if (used !== undefined) {
    await write(used)
    return requeueAfter(retryMilliseconds)
  }
  const id = instance.status?.externalId
  // Without its class there is no way to the server: a platform admin who removed it by force ends what is there.
  if (id === undefined || instance.spec.whenDeleted === 'Keep' || facts.serviceClass === undefined) return undefined
  const opened = deps.servers.of(instance.spec.class, 'postgresql')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  try {
    await dropInstance(opened.server, id)
    return undefined
  } catch (error) {
    const { kind, message } = troubleOf(error)
    await write({ reason: kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable, message })
    return requeueAfter(retryMilliseconds)
  }
}

/** Idempotent. */
export function reconcileServiceInstance(deps: ServiceInstanceDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: serviceInstances, finalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
