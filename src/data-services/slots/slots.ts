// The two slots of a credential: which step comes next. Pure. A credential is made, proven and only then delivered; the one
// before it goes on until its overlap ended. Whatever breaks off between two steps, the next call finds the way on: at most
// two credentials live, and nobody needs to know what happened, only what is.
import type { SlotName } from '../adapters/postgresql/identifiers.ts'

/**
 * Making: it may exist and was not delivered. Delivered: the Secret holds it. Draining: the Secret holds the other one. Closed:
 * the platform closed it on the server, because its sessions took what others need; it ends next.
 */
export type SlotState = 'Making' | 'Delivered' | 'Draining' | 'Closed'
export type Slot = {
  readonly slot: SlotName
  readonly state: SlotState
  /** When making it began: what tells it from a former credential of the same slot. */
  readonly issuedAt: Date
  /** Of a slot that drains: when it ends. */
  readonly until?: Date
}

export type SlotFacts = {
  /** What was recorded, at most one for each name. */
  readonly slots: readonly Slot[]
  /** The slots whose logins exist on the server. */
  readonly live: ReadonlySet<SlotName>
  /** Those that were closed there, of the slots that are recorded and not live. */
  readonly closed: ReadonlySet<SlotName>
  /** Before this no credential is made; undefined when nothing keeps it from being made. */
  readonly notBefore: Date | undefined
  /** Those of them by which nobody is connected; undefined when the server has no connections to tell it from. */
  readonly idle: ReadonlySet<SlotName> | undefined
  /** Whether all pods that the platform knows have the one that the Secret holds. */
  readonly isRolledOut: boolean
  /** Which credential the Secret holds; undefined when there is none or nobody can tell. */
  readonly held: { readonly slot: SlotName; readonly issuedAt: Date } | undefined
  /** A credential that was issued before this is to be replaced, at the earliest when it is a minute old. */
  readonly rotate: Date | undefined
  readonly maxAgeMilliseconds: number
  readonly overlapMilliseconds: number
  readonly now: Date
}

export type Step =
  /** Ends the login of the slot, then records that it is gone. */
  | { readonly kind: 'drop'; readonly slot: SlotName }
  /** Records these slots; nothing else changes. */
  | { readonly kind: 'record'; readonly slots: readonly Slot[] }
  /** Makes the login of this slot, which is recorded as Making, proves it, and writes the Secret. */
  | { readonly kind: 'issue'; readonly slot: Slot }
  /** Nothing to do until then, or until something else changes. */
  | { readonly kind: 'wait'; readonly until: Date | undefined; readonly isReady: boolean }

const names: readonly SlotName[] = ['a', 'b']
/** How soon it is looked again whether anybody is connected by a slot that may end. */
const lookMilliseconds = 5_000
/** A credential lives at least as long before somebody's wish replaces it: a loop of wishes makes no loop of credentials. */
const paceMilliseconds = 60_000

export function nextStep(facts: SlotFacts): Step {
  return settle(facts) ?? drain(facts) ?? renew(facts)
}

/**
 * Brings the record in line with the Secret and the server, of which each can be ahead of it after a crash or a restored
 * backup.
 */
function settle({ slots, live, closed, held, now, overlapMilliseconds }: SlotFacts): Step | undefined {
  const unsaid = lostSlots({ slots, live }).find(({ slot, state }) => state !== 'Closed' && closed.has(slot))
  // It is recorded before it ends: afterwards the server does not tell any more why it did.
  if (unsaid !== undefined) return { kind: 'record', slots: slots.map(one => (one === unsaid ? closedSlot(one) : one)) }
  const current = slots.find(slot => slot.state !== 'Closed' && isHeld(held, slot))
  if (current !== undefined && current.state !== 'Delivered' && live.has(current.slot))
    return { kind: 'record', slots: delivered(slots, current, new Date(now.getTime() + overlapMilliseconds)) }
  if (held !== undefined && live.has(held.slot) && slots.every(({ slot }) => slot !== held.slot))
    return { kind: 'record', slots: [...slots, { ...held, state: 'Delivered' }] }
  const unknown = names.find(name => live.has(name) && slots.every(({ slot }) => slot !== name))
  if (unknown !== undefined) return { kind: 'drop', slot: unknown }
  const [lost] = lostSlots({ slots, live })
  // Perhaps its end broke off, before its sessions were over.
  return lost && { kind: 'drop', slot: lost.slot }
}

/** Those that were delivered, and by which nobody logs in any more. */
export function lostSlots({ slots, live }: Pick<SlotFacts, 'slots' | 'live'>): readonly Slot[] {
  return slots.filter(({ slot, state }) => state === 'Closed' || (state !== 'Making' && !live.has(slot)))
}

function closedSlot({ slot, issuedAt }: Slot): Slot {
  return { slot, issuedAt, state: 'Closed' }
}

/** The slots after `current` was delivered: the one before it drains. */
export function delivered(slots: readonly Slot[], current: Slot, until: Date): readonly Slot[] {
  const { slot, issuedAt } = current
  return slots.map(one => {
    if (one.slot === slot) return { slot, issuedAt, state: 'Delivered' }
    return one.state === 'Delivered' ? { ...one, state: 'Draining', until } : one
  })
}

/**
 * When its overlap is over. As soon as nobody is connected by it, once all pods have the other one, or while both slots are taken
 * and another credential is wanted now.
 */
function drain(facts: SlotFacts): Step | undefined {
  const { slots, idle, now } = facts
  const draining = slots.find(({ state }) => state === 'Draining')
  if (draining === undefined) return undefined
  const mayEnd = idle?.has(draining.slot) === true && (hasRolledOut(facts) || isBlocked(facts))
  return isDue(draining, now) || mayEnd ? { kind: 'drop', slot: draining.slot } : undefined
}

/** Of the credential that is recorded as delivered, and that the Secret holds. */
function hasRolledOut({ slots, held, isRolledOut }: SlotFacts): boolean {
  return isRolledOut && slots.some(slot => slot.state === 'Delivered' && isHeld(held, slot))
}

/** Whether another credential is wanted now and no slot is free for it. */
function isBlocked(facts: SlotFacts): boolean {
  const current = facts.slots.find(({ state }) => state === 'Delivered')
  return freeSlot(facts) === undefined && current !== undefined && !isGood(facts, current)
}

function freeSlot({ slots }: SlotFacts): SlotName | undefined {
  return names.find(name => slots.every(({ slot }) => slot !== name))
}

function isGood(facts: SlotFacts, current: Slot): boolean {
  const end = endOf(facts, current)
  return end !== undefined && end > facts.now
}

function renew(facts: SlotFacts): Step {
  const { slots, now } = facts
  const current = slots.find(({ state }) => state === 'Delivered')
  const making = slots.find(({ state }) => state === 'Making')
  const draining = slots.find(({ state }) => state === 'Draining')
  const end = current && endOf(facts, current)
  const isReady = end !== undefined && end > now
  // It is not wanted any more, such as after its rotation was taken back.
  if (isReady && making !== undefined) return { kind: 'drop', slot: making.slot }
  const look = facts.idle && new Date(now.getTime() + lookMilliseconds)
  if (isReady && draining !== undefined && hasRolledOut(facts))
    return { kind: 'wait', until: earliest(earliest(end, draining.until), look), isReady }
  if (isReady) return { kind: 'wait', until: earliest(end, draining?.until), isReady }
  if (making !== undefined) return { kind: 'issue', slot: making }
  const free = freeSlot(facts)
  if (free === undefined)
    return {
      kind: 'wait',
      until: draining?.until && earliest(draining.until, look),
      isReady: current !== undefined && isHeld(facts.held, current),
    }
  const { notBefore } = facts
  if (notBefore !== undefined && notBefore > now)
    return {
      kind: 'wait',
      until: earliest(notBefore, draining?.until),
      isReady: current !== undefined && isHeld(facts.held, current),
    }
  return { kind: 'record', slots: [...slots, { slot: free, state: 'Making', issuedAt: now }] }
}

/** Until when the delivered credential is to be kept; undefined when it is to be replaced in any case. */
function endOf(facts: SlotFacts, current: Slot): Date | undefined {
  const { rotate, maxAgeMilliseconds } = facts
  if (!isHeld(facts.held, current)) return undefined
  const issued = current.issuedAt.getTime()
  const aged = new Date(issued + maxAgeMilliseconds)
  if (rotate === undefined || rotate <= current.issuedAt) return aged
  const asked = new Date(Math.max(rotate.getTime(), issued + paceMilliseconds))
  return asked <= facts.now ? undefined : earliest(aged, asked)
}

/** Whether the Secret holds the credential of this slot, and not a former one of the same name. */
export function isHeld(held: SlotFacts['held'], { slot, issuedAt }: Slot): boolean {
  return held?.slot === slot && held.issuedAt.getTime() === issuedAt.getTime()
}

/** Whether a slot that drains is to end now, whoever uses it. */
export function isDue({ until }: Slot, now: Date): boolean {
  return until === undefined || until <= now
}

function earliest(first: Date, second: Date | undefined): Date {
  return second !== undefined && second < first ? second : first
}
