// Whether a ServiceBinding can have a credential now, and the facts for its slots. Pure.
import { rolledOutAnnotation } from '../../api/services/binding-secret.ts'
import { type Plan, planHeld } from '../../api/services/offer.ts'
import { offerReasons } from '../../api/services/offer-reasons.ts'
import { serviceBindingReasons as reasons, type ServiceBinding } from '../../api/services/service-binding.ts'
import { serviceInstanceReasons } from '../../api/services/service-instance.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import type { Refusal } from '../../policy/check.ts'
import type { SlotName } from '../adapters/postgresql/identifiers.ts'
import { slotNames } from '../credentials/credentials.ts'
import { principalOf } from '../credentials/principal.ts'
import type { Snapshot } from '../looks/snapshot.ts'
import type { OpenServer } from '../providers/provider.ts'
import { isHeld, type Slot, type SlotFacts } from '../slots/slots.ts'
import { heldBy, versionOf } from './desired.ts'
import type { Facts } from './gather.ts'

const day = 24 * 60 * 60_000
const minute = 60_000

export type Ready = {
  readonly kind: 'ready'
  readonly id: string
  readonly opened: OpenServer
  readonly plan: Plan
  readonly maxAgeMilliseconds: number
  readonly overlapMilliseconds: number
}
export type Decision =
  | ({ readonly kind: 'refused' } & Refusal)
  /** This process has not opened the server yet. */
  | { readonly kind: 'starting' }
  | Ready

const reasonsOf = {
  ServiceInstance: { notFound: reasons.instanceNotFound, notReady: reasons.instanceNotReady },
  Bucket: { notFound: reasons.bucketNotFound, notReady: reasons.bucketNotReady },
} as const

/** Of what a change of the service or its class wakes the binding. */
export function isAwaited({ reason }: Refusal): boolean {
  return Object.values(reasonsOf).some(({ notReady }) => notReady === reason)
}

/** What a credential can be made of, or the first reason why none can. */
export function decide(facts: Facts): Decision {
  const { binding, service, id, serviceClass, opened, secret } = facts
  const refuse = (reason: string, message: string): Decision => ({ kind: 'refused', reason, message })
  const { kind, name } = binding.spec.service
  const { notFound } = reasonsOf[kind]
  if (secret !== undefined && !isOwn(facts))
    return refuse(
      reasons.nameTaken,
      `Secret ${secret.metadata.name} exists and was not made for this ServiceBinding: a platform admin has to delete it`,
    )
  if (service === undefined || service.metadata.deletionTimestamp !== undefined)
    return refuse(notFound, `there is no ${kind} ${name} in this namespace, or it is being deleted: create it`)
  const trouble = serviceTrouble(facts)
  const plan = serviceClass && planHeld(serviceClass, service.status?.plan)
  const isKnown = id !== undefined && serviceClass !== undefined && plan !== undefined
  if (!isKnown || (trouble !== undefined && !isReplacing(facts)))
    return { kind: 'refused', ...(trouble ?? notReady(binding.spec.service)) }
  if (opened === undefined) return { kind: 'starting' }
  const { maxAgeDays, overlapMinutes } = serviceClass.spec.credentials
  return {
    kind: 'ready',
    id,
    opened,
    plan,
    maxAgeMilliseconds: maxAgeDays * day,
    overlapMilliseconds: overlapMinutes * minute,
  }
}

/** Why no first credential of the service is made; undefined when nothing is the matter with it. */
export function serviceTrouble({ binding, service }: Pick<Facts, 'binding' | 'service'>): Refusal | undefined {
  const ready = findCondition(service?.status?.conditions, 'Ready')
  // Over its plan an instance has credentials that read and delete.
  const isUsable = ready?.status === 'True' || ready?.reason === serviceInstanceReasons.writesEnded
  return isUsable ? undefined : notReady(binding.spec.service, ready?.reason)
}

function notReady({ kind, name }: ServiceBinding['spec']['service'], why?: string): Refusal {
  return { reason: reasonsOf[kind].notReady, message: `${kind} ${name} is not ready${why === undefined ? '' : `: ${why}`}` }
}

/**
 * Whether a credential that was delivered goes on being replaced, whatever its service or class asks for and cannot have: one
 * that nobody replaces would live for ever. The database or bucket must be there, and this process at its server.
 */
function isReplacing({ binding, service, opened }: Facts): boolean {
  const conditions = service?.status?.conditions
  return (
    binding.status?.version !== undefined &&
    opened !== undefined &&
    findCondition(conditions, 'Provisioned')?.status === 'True' &&
    findCondition(conditions, 'Ready')?.reason !== offerReasons.names.noTenant
  )
}

/** Whether the Secret was made for this ServiceBinding. */
export function isOwn({ binding, secret }: Pick<Facts, 'binding' | 'secret'>): boolean {
  return secret !== undefined && controllerOf(secret)?.uid === binding.metadata.uid
}

/** What the Secret holds, if it is the one that was made for this ServiceBinding. */
export function heldOf(facts: Pick<Facts, 'binding' | 'secret'>): SlotFacts['held'] {
  return isOwn(facts) ? heldBy(facts.secret, facts.binding.spec.service.kind) : undefined
}

/** As they are recorded. */
export function slotsOf({ status }: ServiceBinding): readonly Slot[] {
  return (status?.slots ?? []).map(({ slot, state, issuedAt, until }) => ({
    slot,
    state,
    issuedAt: new Date(issuedAt),
    ...(until !== undefined && { until: new Date(until) }),
  }))
}

/** The Secret, which is not watched, is read again: somebody may have deleted it. */
const lookMilliseconds = 10 * minute

/** How long nothing has to be done, when the next thing is due at this time. */
export function restMilliseconds(until: Date | undefined, now: Date): number {
  return until === undefined ? lookMilliseconds : Math.min(lookMilliseconds, Math.max(0, until.getTime() - now.getTime()))
}

/** The slots that drain, and that the Secret does not hold: each can end when it is due, whatever else is the matter. */
export function drainingOf(facts: Facts): readonly Slot[] {
  const held = heldOf(facts)
  return slotsOf(facts.binding).filter(slot => slot.state === 'Draining' && !isHeld(held, slot))
}

/** Whether the controllers say that of the credential which the Secret holds. Of pods that people make nobody knows. */
function isRolledOut({ binding, secret }: Facts): boolean {
  const version = versionOf(secret)
  return version > 0 && binding.metadata.annotations?.[rolledOutAnnotation] === String(version)
}

/** The slots whose logins a look found; undefined when it does not say it of each. */
export function liveIn(seen: Snapshot | undefined, binding: ServiceBinding): ReadonlySet<SlotName> | undefined {
  const found = slotNames.map(slot => [slot, seen?.mayLogIn(principalOf(binding, slot))] as const)
  if (found.some(([, isLive]) => isLive === undefined)) return undefined
  return new Set(found.flatMap(([slot, isLive]) => (isLive ? [slot] : [])))
}

/** Whether the server does not have the login that the Secret holds. */
export function hasLostLogin(seen: Snapshot, { status }: ServiceBinding): boolean {
  return status?.principal !== undefined && seen.mayLogIn(status.principal) === false
}

/** One that is closed again within so long after another waits for its successor: a loop of locks makes no loop of logins. */
const closedAgainMilliseconds = 60 * minute
const closedPaceMilliseconds = 10 * minute

/** When the credential is made that follows one that was closed; undefined for at once. */
export function successorFrom(ended: NonNullable<ServiceBinding['status']>['ended'] = []): Date | undefined {
  const [last, before] = ended.filter(({ cause }) => cause !== undefined).map(({ endedAt }) => Date.parse(endedAt))
  if (last === undefined || before === undefined || last - before >= closedAgainMilliseconds) return undefined
  return new Date(last + closedPaceMilliseconds)
}

type Seen = Pick<SlotFacts, 'live' | 'closed' | 'idle' | 'now'>

export function slotFactsOf(facts: Facts, ready: Ready, { live, closed, idle, now }: Seen): SlotFacts {
  const { rotate } = facts.binding.spec
  return {
    slots: slotsOf(facts.binding),
    live,
    closed,
    notBefore: successorFrom(facts.binding.status?.ended),
    idle,
    isRolledOut: isRolledOut(facts),
    held: heldOf(facts),
    rotate: rotate === undefined ? undefined : new Date(rotate),
    maxAgeMilliseconds: ready.maxAgeMilliseconds,
    overlapMilliseconds: ready.overlapMilliseconds,
    now,
  }
}
