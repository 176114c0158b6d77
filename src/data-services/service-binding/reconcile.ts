// Keeps the credential of a ServiceBinding: does what the machine of the two slots says next, one step after the other, and
// reports each. With `issue.ts` the only files here that write. A credential is recorded before it is made; what ends is ended
// before that is recorded.
import { secrets } from '../../api/builtin/index.ts'
import {
  serviceBindingReasons as reasons,
  type ServiceBinding,
  serviceBinding as serviceBindings,
} from '../../api/services/service-binding.ts'
import { bindingFinalizer } from '../../api/services/service-finalizers.ts'
import { reconcileWithFinalizer } from '../../controllers/kit/reconcile-with-finalizer.ts'
import { requeueAfterSoonest } from '../../controllers/kit/soonest.ts'
import type { StatusWriter } from '../../controllers/kit/status-writer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import type { SlotName } from '../adapters/postgresql/identifiers.ts'
import { type Credentials, slotNames } from '../credentials/credentials.ts'
import { credentialsOf } from '../credentials/of-binding.ts'
import { principalOf } from '../credentials/principal.ts'
import { troubleOf } from '../server-error.ts'
import { delivered, isDue, isHeld, lostSlots, nextStep, type Slot, type Step } from '../slots/slots.ts'
import {
  decide,
  drainingOf,
  heldOf,
  isAwaited,
  isOwn,
  liveIn,
  type Ready,
  restMilliseconds,
  serviceTrouble,
  slotFactsOf,
  slotsOf,
} from './decide.ts'
import { versionOf } from './desired.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import { issue, refresh } from './issue.ts'
import { endedOf, nextStatus, type Observation } from './status.ts'

export type ServiceBindingDeps = GatherDeps & {
  readonly cache: Pick<Cache<ServiceBinding>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch' | 'delete'>
  readonly status: StatusWriter<ServiceBinding>
  readonly clock: Clock
}

/** A way from nothing to a delivered credential has three; more would be a machine that turns in a circle. */
const maxSteps = 10
const retryMilliseconds = 10_000
/** Until the controller of ServiceClasses has opened the server, after a start. */
const openMilliseconds = 1_000
/** A server that gives too much, or a cluster that refuses, is asked again slowly. */
const refusedMilliseconds = 60_000

async function keep(deps: ServiceBindingDeps, binding: ServiceBinding): Promise<Outcome> {
  let current = binding
  for (let step = 0; step < maxSteps; step++) {
    const facts = await gather(deps, current)
    const decision = decide(facts)
    if (decision.kind === 'refused') return refuse(deps, facts, decision)
    if (decision.kind === 'starting') return requeueAfter(openMilliseconds)
    try {
      const taken = await take(deps, facts, decision)
      if (taken.outcome !== undefined) return taken.outcome
      current = taken.binding
    } catch (error) {
      const { kind, message } = troubleOf(error)
      const reason = kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable
      await report(deps, facts, { refusal: { reason, message } })
      return requeueAfter(retryMilliseconds)
    }
  }
  return requeueAfter(retryMilliseconds)
}

/** Nothing can be issued. What is due to end ends all the same, as far as the server is known and answers. */
async function refuse(deps: ServiceBindingDeps, facts: Facts, refusal: Refusal): Promise<Outcome> {
  const now = deps.clock.now()
  const { opened, id, binding } = facts
  const credentials = opened && id !== undefined ? credentialsOf(opened, binding, id) : undefined
  const draining = credentials === undefined ? [] : drainingOf(facts)
  const ended = new Set<Slot['slot']>()
  for (const { slot } of draining.filter(one => isDue(one, now)))
    if (credentials !== undefined && (await hasEnded(credentials, slot))) ended.add(slot)
  await report(deps, facts, { refusal, slots: slotsOf(facts.binding).filter(({ slot }) => !ended.has(slot)) })
  const waits = draining
    .filter(({ slot }) => !ended.has(slot))
    .map(one => Math.max(retryMilliseconds, restMilliseconds(one.until, now)))
  return requeueAfterSoonest(...waits, isAwaited(refusal) ? undefined : refusedMilliseconds)
}

/** False when the server could not end it: for the next time. */
async function hasEnded(credentials: Credentials, slot: SlotName): Promise<boolean> {
  try {
    await credentials.drop(slot)
    return true
  } catch (error) {
    troubleOf(error)
    return false
  }
}

type Taken = { readonly binding: ServiceBinding; readonly outcome: Outcome | undefined }

/** One step. Its outcome is undefined when there may be another one. Rejects with errors of the server and of the API server. */
async function take(deps: ServiceBindingDeps, facts: Facts, ready: Ready): Promise<Taken> {
  const credentials = credentialsOf(ready.opened, facts.binding, ready.id)
  const step = await stepOf(deps, facts, ready, credentials)
  const slots = slotsOf(facts.binding)
  switch (step.kind) {
    case 'record':
      return goOn(await report(deps, facts, { slots: step.slots }))
    case 'drop':
      await credentials.drop(step.slot)
      return goOn(await report(deps, facts, { slots: slots.filter(({ slot }) => slot !== step.slot) }))
    case 'issue':
      return deliver(deps, facts, ready, step.slot)
    case 'wait':
      return rest(deps, facts, ready, step)
  }
}

/** That nothing has to be done may be told from the look that all share; all else from the server itself. */
async function stepOf({ clock }: ServiceBindingDeps, facts: Facts, ready: Ready, credentials: Credentials): Promise<Step> {
  const live = liveIn(facts.seen, facts.binding)
  const shared = { closed: new Set<SlotName>(), idle: undefined, now: clock.now() }
  const step = live && nextStep(slotFactsOf(facts, ready, { live, ...shared }))
  if (step?.kind === 'wait') return step
  const seen = await credentials.look()
  const closed = await closedOf(credentials, lostSlots({ slots: slotsOf(facts.binding), live: seen.live }))
  return nextStep(slotFactsOf(facts, ready, { ...seen, closed, now: clock.now() }))
}

/** Of those that are lost: at rest the server is not asked. */
async function closedOf({ isClosed }: Credentials, lost: readonly Slot[]): Promise<ReadonlySet<SlotName>> {
  const closed = new Set<SlotName>()
  for (const { slot } of lost) if (await isClosed(slot)) closed.add(slot)
  return closed
}

const goOn = (binding: ServiceBinding): Taken => ({ binding, outcome: undefined })

async function deliver(deps: ServiceBindingDeps, facts: Facts, ready: Ready, slot: Slot): Promise<Taken> {
  const refusal = await issue(deps, facts, ready, slot)
  if (refusal !== undefined) {
    const proven = refusal.reason !== reasons.widerThanAsked && refusal.reason !== reasons.narrowerThanAsked
    const binding = await report(deps, facts, { refusal, proven })
    return { binding, outcome: requeueAfter(refusedMilliseconds) }
  }
  const until = new Date(deps.clock.now().getTime() + ready.overlapMilliseconds)
  const now = await gather(deps, facts.binding)
  return goOn(await report(deps, now, { slots: delivered(slotsOf(facts.binding), slot, until), proven: true }))
}

async function rest(
  deps: ServiceBindingDeps,
  facts: Facts,
  ready: Ready,
  { until }: Extract<Step, { kind: 'wait' }>,
): Promise<Taken> {
  const held = heldOf(facts)
  const refreshed = held && (await refresh(deps, facts, ready, held))
  if (refreshed?.changed === true && refreshed.refusal === undefined) return goOn(facts.binding)
  const refusal = refreshed?.refusal
  const binding = await report(deps, facts, refusal === undefined ? {} : { refusal })
  const wait = restMilliseconds(until, deps.clock.now())
  return { binding, outcome: requeueAfterSoonest(wait, refusal && refusedMilliseconds) }
}

type Report = Partial<Pick<Observation, 'slots' | 'proven'>> & { readonly refusal?: Refusal }

/** Writes the status for what is recorded, or for these slots. */
function report(
  deps: ServiceBindingDeps,
  facts: Facts,
  { slots = slotsOf(facts.binding), ...more }: Report,
): Promise<ServiceBinding> {
  const remark = serviceTrouble(facts)
  const observation = { slots, delivered: deliveredBy(facts, slots), remark, ...more }
  return deps.status.write(facts.binding, nextStatus(facts.binding, observation, deps.clock.now()))
}

/** What the Secret holds, when it is recorded as delivered. */
function deliveredBy(facts: Facts, slots: readonly Slot[]): Observation['delivered'] {
  const held = heldOf(facts)
  const slot = slots.find(one => isHeld(held, one))
  if (slot?.state !== 'Delivered') return undefined
  return { version: versionOf(facts.secret), principal: principalOf(facts.binding, slot.slot) }
}

/** Nothing is left when this resolves to undefined: no Secret of ours, no credential. */
async function end(deps: ServiceBindingDeps, binding: ServiceBinding): Promise<Outcome | undefined> {
  const facts = await gather(deps, binding)
  const { secret, id, serviceClass, opened } = facts
  if (secret !== undefined && isOwn(facts)) {
    const { namespace = '', name } = secret.metadata
    await deps.client.delete(secrets, { namespace, name }, { uid: uidOf(secret) })
  }
  const wasMade = (binding.status?.slots ?? []).length > 0
  // Without service or class there is no way to the server: whoever removed those by force ends what is there.
  if (!wasMade || id === undefined || serviceClass === undefined) return undefined
  if (opened === undefined) return requeueAfter(openMilliseconds)
  try {
    const credentials = credentialsOf(opened, binding, id)
    for (const slot of slotNames) await credentials.drop(slot)
    await sayEnded(deps, binding)
    return undefined
  } catch (error) {
    const { kind, message } = troubleOf(error)
    const reason = kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable
    await report(deps, { ...facts, secret: undefined }, { refusal: { reason, message } })
    return requeueAfter(retryMilliseconds)
  }
}

/** For the audit log, which the controllers write before the object is gone. */
async function sayEnded({ status, clock }: ServiceBindingDeps, binding: ServiceBinding): Promise<void> {
  const ended = endedOf(binding.status, [], clock.now())
  await status.write(binding, { ...binding.status, slots: [], ...defined({ ended }) })
}

/** Idempotent. */
export function reconcileServiceBinding(deps: ServiceBindingDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: serviceBindings, finalizer: bindingFinalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
