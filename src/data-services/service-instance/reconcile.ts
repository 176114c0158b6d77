// Keeps the database of a ServiceInstance. The only file here that writes. Order: the name on the server into the status,
// then the database: after a crash the next run finds what this one made. A database is deleted only when the object says so,
// when no ServiceBinding uses it any more, and by the name that the status has.

import type { Plan } from '../../api/services/offer.ts'
import { instanceFinalizer } from '../../api/services/service-finalizers.ts'
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
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import { dropInstance, type Ensured, ensureExtensions, ensureInstance, keepInstance } from '../adapters/postgresql/instances.ts'
import type { LookedDatabase } from '../adapters/postgresql/look.ts'
import { allowWrites, endWrites, haveEnded } from '../adapters/postgresql/writes.ts'
import { inUse, isSettled, keptTooMany, maxKept, unreadiness } from '../offer.ts'
import type { DataServicesParts } from '../parts.ts'
import { type PlanStand, planStand, standBefore } from '../plan.ts'
import type { OpenDatabases } from '../providers/provider.ts'
import { troubleOf } from '../server-error.ts'
import { connectionsOf, type Decision, decide, isAtRest } from './decide.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import { nextStatus, type Observation } from './status.ts'

export type ServiceInstanceDeps = GatherDeps & {
  readonly cache: Pick<Cache<ServiceInstance>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly status: StatusWriter<ServiceInstance>
  readonly servers: DataServicesParts['servers']
  readonly looks: DataServicesParts['looks']
  readonly clock: Clock
}

export const fieldManager = 'sekisho.dev/service-instance'
/** It is looked at again, with all others of its server when nothing changed. */
const lookMilliseconds = 60_000
const retryMilliseconds = 10_000
/** Until the controller of ServiceClasses has opened the server, after a start. */
const openMilliseconds = 1_000

type Kept = Extract<Decision, { kind: 'keep' }>

async function keep(deps: ServiceInstanceDeps, instance: ServiceInstance): Promise<Outcome> {
  const write = (on: ServiceInstance, observation: Observation): Promise<ServiceInstance> =>
    deps.status.write(on, nextStatus(on, observation, deps.clock.now()))
  const facts = gather(deps, instance)
  const decision = decide(facts)
  if (decision.kind === 'refused') return refuse(deps, facts, decision)
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
  const version = facts.serviceClass?.status?.version
  const attempt = async (on: ServiceInstance): Promise<Attempt> => {
    const seen = isSettled(on) ? await deps.looks.at(on.spec.class) : undefined
    const looked = seen?.database(id)
    const rests = isAtRest(looked, decision)
    const observation = await provision(deps, { instance: on, opened, decision, looked })
    const written = await write(on, { id, plan, ...(version && { version }), ...observation })
    const again = (rests && seen?.restMilliseconds) || lookMilliseconds
    return { written, wait: observation.refusal === undefined ? again : retryMilliseconds }
  }
  const { written, wait } = await attempt(begun)
  // The status says it before it is done.
  const isDecided = endsNow(written) && !endsNow(begun)
  return requeueAfter(isDecided ? (await attempt(written)).wait : wait)
}

/** What is the matter is said; what was made before keeps to the plan that it has, or nobody would have to. */
async function refuse(deps: ServiceInstanceDeps, { instance, serviceClass }: Facts, refusal: Refusal): Promise<Outcome> {
  const { externalId: id, plan: name } = instance.status ?? {}
  const plan = serviceClass?.spec.plans.find(one => one.name === name)
  const opened = deps.servers.of(instance.spec.class, 'postgresql')
  const attempt = async (on: ServiceInstance): Promise<ServiceInstance> => {
    const looked = id === undefined ? undefined : (await deps.looks.at(on.spec.class))?.database(id)
    const planned = id && plan && opened && { instance: on, opened, id, plan, looked }
    const found = planned && (await sayingTrouble(() => keepToPlan(deps, planned)))
    const observation = typeof found === 'object' && 'stand' in found ? { plan, ...found } : {}
    return deps.status.write(on, nextStatus(on, defined({ refusal, ...observation }), deps.clock.now()))
  }
  const written = await attempt(instance)
  if (endsNow(written) && !endsNow(instance)) await attempt(written)
  return id === undefined ? done : requeueAfter(lookMilliseconds)
}

/** What the work resolves to, or why the server did not do it. */
async function sayingTrouble<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    const { kind, message } = troubleOf(error)
    return { reason: kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable, message }
  }
}

type Attempt = { readonly written: ServiceInstance; readonly wait: number }

function endsNow(instance: ServiceInstance): boolean {
  return standBefore(instance).standing === 'ended'
}

type Provision = {
  readonly instance: ServiceInstance
  readonly opened: OpenDatabases
  readonly decision: Kept
  /** Its database, when a look says of it that it may be at rest. */
  readonly looked: LookedDatabase | undefined
}

/** Makes it as it is wanted, or says why that was not possible. */
async function provision(deps: ServiceInstanceDeps, { instance, opened, decision, looked }: Provision): Promise<Observation> {
  const { id, plan, extensions, mayCreate } = decision
  const made = await sayingTrouble(async (): Promise<Observation> => {
    const wanted = { id, connections: connectionsOf(plan) }
    const lost = isAtRest(looked, decision) ? undefined : lostObservation(await ensureInstance(opened.server, wanted, mayCreate))
    if (lost !== undefined) return lost
    const endpoint = { host: opened.host, port: opened.port }
    return { refusal: undefined, endpoint, ...(await keepToPlan(deps, { instance, opened, id, plan, looked })) }
  })
  if ('message' in made) return { refusal: made }
  if (made.refusal !== undefined) return made
  // After the plan: what a tenant can make fail must not keep it from being measured.
  const trouble = isSettled(instance) ? undefined : await sayingTrouble(() => ensureExtensions(opened.server, id, extensions))
  return trouble === undefined ? { ...made, provisioned: 'True' } : { ...made, refusal: trouble }
}

type Planned = Pick<Provision, 'instance' | 'opened' | 'looked'> & { readonly id: string; readonly plan: Plan }

/** Ends writes once the status says so, and allows them when it fits again. */
async function keepToPlan(
  { looks, clock }: ServiceInstanceDeps,
  { instance, opened: { server }, id, plan, looked }: Planned,
): Promise<Pick<Observation, 'storage'> & { readonly stand: PlanStand }> {
  const bytes = await looks.bytesOf(instance.spec.class, id)
  const said = standBefore(instance)
  // Of an object that is new, or of another generation, the server is asked: what was kept can be over its plan.
  const mayEndUnsaid = !isSettled(instance) && looked?.writes !== 'allowed'
  const isEnded = said.standing === 'ended' || (mayEndUnsaid && (await haveEnded(server, id)))
  const before = isEnded ? { ...said, standing: 'ended' as const } : said
  const stand = planStand({ kind: 'ServiceInstance', before, bytes, plan, now: clock.now() })
  if (isEnded && stand.standing === 'ended' && looked?.writes !== 'ended') await endWrites(server, id)
  if (isEnded && stand.standing !== 'ended') await allowWrites(server, id)
  return { stand, ...defined({ storage: bytes }) }
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
    await refuse(deps, facts, used)
    return requeueAfter(retryMilliseconds)
  }
  const id = instance.status?.externalId
  // Without its class there is no way to the server: a platform admin who removed it by force ends what is there.
  if (id === undefined || facts.serviceClass === undefined) return undefined
  const opened = deps.servers.of(instance.spec.class, 'postgresql')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  try {
    const refusal = await endOnServer(deps, facts, opened, id)
    if (refusal !== undefined) {
      await write(refusal)
      return requeueAfter(lookMilliseconds)
    }
  } catch (error) {
    const { kind, message } = troubleOf(error)
    await write({ reason: kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable, message })
    return requeueAfter(retryMilliseconds)
  }
  // For the audit log, which the controllers write before the object is gone.
  const become = instance.spec.whenDeleted === 'Keep' ? ('Kept' as const) : ('Deleted' as const)
  await deps.status.write(instance, { ...instance.status, end: become })
  return undefined
}

/** Why the data cannot be kept; undefined when they are kept, or gone. Rejects with the error of the server. */
async function endOnServer(
  { clock }: ServiceInstanceDeps,
  { instance, tenant }: Facts,
  { server }: OpenDatabases,
  id: string,
): Promise<Observation['refusal']> {
  if (instance.spec.whenDeleted === 'Delete') {
    await dropInstance(server, id)
    return undefined
  }
  // What is left of a Tenant that goes is kept in any case: its end must not wait for it.
  const isStaying = tenant !== undefined && tenant.metadata.deletionTimestamp === undefined
  const most = isStaying ? maxKept : Number.POSITIVE_INFINITY
  if (await keepInstance(server, id, { tenantUid: tenant?.metadata.uid ?? '', most, since: clock.now() })) return undefined
  return keptTooMany('postgresql')
}

/** Idempotent. */
export function reconcileServiceInstance(deps: ServiceInstanceDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: serviceInstances, finalizer: instanceFinalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
