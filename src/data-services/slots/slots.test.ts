import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SlotName } from '../adapters/postgresql/identifiers.ts'
import { delivered, nextStep, type Slot, type SlotFacts } from './slots.ts'

const minute = 60_000
const begin = new Date('2026-01-01T00:00:00Z')
const at = (minutes: number): Date => new Date(begin.getTime() + minutes * minute)
const facts = (changes: Partial<SlotFacts>): SlotFacts => ({
  slots: [],
  live: new Set<SlotName>(),
  closed: new Set<SlotName>(),
  notBefore: undefined,
  idle: new Set<SlotName>(),
  isRolledOut: false,
  held: undefined,
  rotate: undefined,
  maxAgeMilliseconds: 1000 * minute,
  overlapMilliseconds: 60 * minute,
  now: at(0),
  ...changes,
})
const slot = (name: SlotName, state: Slot['state'], issuedAt: Date, until?: Date): Slot => ({
  slot: name,
  state,
  issuedAt,
  ...(until && { until }),
})

describe('the next step', () => {
  test('nothing yet: the intent is recorded, then the credential is made', () => {
    const first = nextStep(facts({}))
    expect(first).toEqual({ kind: 'record', slots: [slot('a', 'Making', at(0))] })
    expect(nextStep(facts({ slots: [slot('a', 'Making', at(0))] }))).toEqual({
      kind: 'issue',
      slot: slot('a', 'Making', at(0)),
    })
  })

  test('the Secret holds what was being made: it is recorded as delivered, and the former one drains', () => {
    const slots = [slot('a', 'Delivered', at(-9)), slot('b', 'Making', at(0))]
    const step = nextStep(facts({ slots, live: new Set(['a', 'b']), held: { slot: 'b', issuedAt: at(0) } }))
    expect(step).toEqual({
      kind: 'record',
      slots: [slot('a', 'Draining', at(-9), at(60)), slot('b', 'Delivered', at(0))],
    })
  })

  test('a Secret that is gone is replaced by another credential', () => {
    const slots = [slot('a', 'Delivered', at(-9))]
    expect(nextStep(facts({ slots, live: new Set(['a']) }))).toEqual({
      kind: 'record',
      slots: [...slots, slot('b', 'Making', at(0))],
    })
  })

  test('a login that the server lost, or whose end broke off, is ended before another is made', () => {
    const held = { slot: 'a', issuedAt: at(-9) } as const
    expect(nextStep(facts({ slots: [slot('a', 'Delivered', at(-9))], held }))).toEqual({ kind: 'drop', slot: 'a' })
    const drains = slot('a', 'Draining', at(-9), at(-1))
    const slots = [drains, slot('b', 'Delivered', at(-1))]
    expect(nextStep(facts({ slots, live: new Set(['b']) }))).toEqual({ kind: 'drop', slot: 'a' })
  })

  test('a login that was closed is recorded as that before it ends, whether it was delivered or drained', () => {
    const closed = new Set<SlotName>(['a'])
    const held = { slot: 'a', issuedAt: at(-9) } as const
    for (const state of ['Delivered', 'Draining'] as const)
      expect(nextStep(facts({ slots: [slot('a', state, at(-9))], closed, held }))).toEqual({
        kind: 'record',
        slots: [slot('a', 'Closed', at(-9))],
      })
    const recorded = [slot('a', 'Closed', at(-9))]
    expect(nextStep(facts({ slots: recorded, closed, held }))).toEqual({ kind: 'drop', slot: 'a' })
    // Somebody opened it on the server.
    expect(nextStep(facts({ slots: recorded, live: new Set(['a']), held }))).toEqual({ kind: 'drop', slot: 'a' })
  })

  test('a credential that may not be made yet is waited for; what drains meanwhile ends', () => {
    expect(nextStep(facts({ notBefore: at(5) }))).toEqual({ kind: 'wait', until: at(5), isReady: false })
    expect(nextStep(facts({ notBefore: at(5), now: at(5) }))).toMatchObject({ kind: 'record' })
    const slots = [slot('b', 'Draining', at(-9), at(2))]
    const present = { slots, live: new Set<SlotName>(['b']), notBefore: at(5) }
    expect(nextStep(facts(present))).toEqual({ kind: 'wait', until: at(2), isReady: false })
    expect(nextStep(facts({ ...present, now: at(2) }))).toEqual({ kind: 'drop', slot: 'b' })
  })

  test('a login that nothing tells of is ended; one that the Secret holds is recorded', () => {
    expect(nextStep(facts({ live: new Set(['b']) }))).toEqual({ kind: 'drop', slot: 'b' })
    const held = { slot: 'b', issuedAt: at(-3) } as const
    expect(nextStep(facts({ live: new Set(['b']), held }))).toEqual({ kind: 'record', slots: [slot('b', 'Delivered', at(-3))] })
  })

  test('a rotation in the future is waited for; one that was asked for begins; one before the credential is over', () => {
    const present = {
      slots: [slot('a', 'Delivered', at(-9))],
      live: new Set<SlotName>(['a']),
      held: { slot: 'a', issuedAt: at(-9) },
    }
    const step = (rotate: Date) => nextStep(facts({ ...present, rotate } as Partial<SlotFacts>))
    expect(step(at(5))).toEqual({ kind: 'wait', until: at(5), isReady: true })
    expect(step(at(-1))).toMatchObject({ kind: 'record', slots: [{ slot: 'a' }, { slot: 'b', state: 'Making' }] })
    expect(step(at(-10))).toMatchObject({ kind: 'wait', isReady: true })
  })

  test('a wish replaces no credential that is younger than a minute', () => {
    const young = slot('a', 'Delivered', at(-0.5))
    const present = { slots: [young], live: new Set<SlotName>(['a']), held: { slot: 'a', issuedAt: at(-0.5) } as const }
    expect(nextStep(facts({ ...present, rotate: at(-0.25) }))).toEqual({ kind: 'wait', until: at(0.5), isReady: true })
    expect(nextStep(facts({ ...present, rotate: at(-0.25), now: at(0.5) }))).toMatchObject({ kind: 'record' })
  })

  test('two credentials are the most: a third waits until the one that drains is gone', () => {
    const slots = [slot('a', 'Draining', at(-20), at(30)), slot('b', 'Delivered', at(-9))]
    const live = new Set<SlotName>(['a', 'b'])
    const soon = new Date(begin.getTime() + 5_000)
    expect(nextStep(facts({ slots, live }))).toEqual({ kind: 'wait', until: soon, isReady: false })
    expect(nextStep(facts({ slots, live, now: at(30) }))).toEqual({ kind: 'drop', slot: 'a' })
  })

  test('the one that drains ends early when nobody is connected by it and a third is wanted, and only then', () => {
    const slots = [slot('a', 'Draining', at(-20), at(30)), slot('b', 'Delivered', at(-9))]
    const present = { slots, live: new Set<SlotName>(['a', 'b']), held: { slot: 'b', issuedAt: at(-9) } as const }
    const idle = new Set<SlotName>(['a'])
    expect(nextStep(facts({ ...present, idle, rotate: at(-1) }))).toEqual({ kind: 'drop', slot: 'a' })
    expect(nextStep(facts({ ...present, idle }))).toMatchObject({ kind: 'wait', isReady: true })
    expect(nextStep(facts({ ...present, rotate: at(-1) }))).toMatchObject({ kind: 'wait', isReady: true })
  })
})

test('what drains ends early once all pods have the other one and nobody is connected by it; until then it is looked again soon', () => {
  const slots = [slot('a', 'Draining', at(-20), at(30)), slot('b', 'Delivered', at(-9))]
  const present = { slots, live: new Set<SlotName>(['a', 'b']), held: { slot: 'b', issuedAt: at(-9) } as const }
  const soon = new Date(begin.getTime() + 5_000)
  const idle = new Set<SlotName>(['a'])
  expect(nextStep(facts({ ...present, idle, isRolledOut: true }))).toEqual({ kind: 'drop', slot: 'a' })
  expect(nextStep(facts({ ...present, isRolledOut: true }))).toEqual({ kind: 'wait', until: soon, isReady: true })
  expect(nextStep(facts({ ...present, idle: new Set<SlotName>(['b']), isRolledOut: true }))).toMatchObject({ kind: 'wait' })
  // The Secret is gone: who has what is not known any more.
  const without = nextStep(facts({ ...present, held: undefined, isRolledOut: true, idle: new Set<SlotName>(['b']) }))
  expect(without).toMatchObject({ kind: 'wait', isReady: false })
})

test('where nobody can tell who is connected, nobody looks: the overlap is waited for', () => {
  const slots = [slot('a', 'Draining', at(-20), at(30)), slot('b', 'Delivered', at(-9))]
  const held = { slot: 'b', issuedAt: at(-9) } as const
  const present = { slots, live: new Set<SlotName>(['a', 'b']), held, idle: undefined, isRolledOut: true }
  expect(nextStep(facts(present))).toEqual({ kind: 'wait', until: at(30), isReady: true })
  expect(nextStep(facts({ ...present, rotate: at(-1) }))).toEqual({ kind: 'wait', until: at(30), isReady: true })
  expect(nextStep(facts({ ...present, now: at(30) }))).toEqual({ kind: 'drop', slot: 'a' })
})

type Happening =
  | 'rotate'
  | 'rolled out'
  | 'secret deleted'
  | { readonly connects: SlotName }
  | { readonly closes: SlotName }
  | { readonly leaves: SlotName }
  | { readonly minutes: number }
  | { readonly crashAfter: number }

// The outside: what the server, the Secret and the status hold. Each effect of a step is one part, and a crash can come
// before any.
class World {
  readonly hasSessions: boolean

  constructor(hasSessions: boolean) {
    this.hasSessions = hasSessions
  }

  now = begin
  slots: readonly Slot[] = []
  readonly live = new Map<SlotName, { issuedAt: Date; proven: boolean }>()
  /** Those that the server has and by which nobody can log in. */
  readonly closed = new Set<SlotName>()
  secret: { slot: SlotName; issuedAt: Date } | undefined
  rotate: Date | undefined
  /** By which slots somebody is connected. */
  readonly busy = new Set<SlotName>()
  /** Which credentials pods have. */
  readonly inPods = new Set<string>()
  /** The one of which it was said that all pods have it. */
  rolledOut: string | undefined
  /** When each credential that was once delivered may end at the earliest. */
  readonly until = new Map<string, Date>()
  readonly overlap = 60 * minute

  key = (name: SlotName, issuedAt: Date): string => `${name} ${issuedAt.getTime()}`

  /** Does the next step, of which only the first `parts` come about. Resolves to what was left to do. */
  step(parts: number): string {
    const next = nextStep({
      slots: this.slots,
      live: new Set(this.live.keys()),
      closed: this.closed,
      notBefore: undefined,
      idle: this.hasSessions ? new Set([...this.live.keys()].filter(name => !this.busy.has(name))) : undefined,
      isRolledOut: this.secret !== undefined && this.rolledOut === this.key(this.secret.slot, this.secret.issuedAt),
      held: this.secret,
      rotate: this.rotate,
      maxAgeMilliseconds: 500 * minute,
      overlapMilliseconds: this.overlap,
      now: this.now,
    })
    if (next.kind === 'wait' && !this.hasSessions) expect(next.until?.getTime()).not.toBe(this.now.getTime() + 5_000)
    let left = parts
    const part = (effect: () => void): void => {
      if (left-- > 0) effect()
    }
    if (next.kind === 'record' && this.secret !== undefined && next.slots.some(one => this.begins(one)))
      expect(this.now.getTime() - this.secret.issuedAt.getTime()).toBeGreaterThanOrEqual(minute)
    if (next.kind === 'record') part(() => (this.slots = next.slots))
    if (next.kind === 'drop') {
      part(() => this.end(next.slot))
      part(() => (this.slots = this.slots.filter(one => one.slot !== next.slot)))
    }
    if (next.kind === 'issue') this.issue(next.slot, part)
    this.check()
    return next.kind
  }

  /** Whether it takes the place of the one that the Secret holds and that the server has. */
  begins({ slot: name, state }: Slot): boolean {
    const isHeldLive = this.secret !== undefined && this.live.has(this.secret.slot)
    return isHeldLive && state === 'Making' && this.slots.every(one => one.slot !== name)
  }

  issue({ slot: name, issuedAt }: Slot, part: (effect: () => void) => void): void {
    part(() => {
      this.live.set(name, { issuedAt, proven: false })
      this.closed.delete(name)
    })
    part(() => this.live.set(name, { issuedAt, proven: true }))
    const until = new Date(this.now.getTime() + this.overlap)
    part(() => {
      expect(this.live.get(name)?.proven).toBe(true)
      for (const [other, { issuedAt: before }] of this.live) if (other !== name) this.until.set(this.key(other, before), until)
      this.secret = { slot: name, issuedAt }
      // Some pod begins at once, long before all of them have it.
      this.inPods.add(this.key(name, issuedAt))
    })
    part(() => {
      const current = this.slots.find(one => one.slot === name)
      if (current) this.slots = delivered(this.slots, current, until)
    })
  }

  happens(event: Happening): void {
    if (event === 'rotate') this.rotate = this.now
    else if (event === 'secret deleted') this.secret = undefined
    else if (event === 'rolled out') this.rollOut()
    else if ('connects' in event) this.busy.add(event.connects)
    else if ('closes' in event) this.close(event.closes)
    else if ('leaves' in event) this.busy.delete(event.leaves)
    else if ('minutes' in event) this.now = new Date(this.now.getTime() + event.minutes * minute)
    else this.step(event.crashAfter)
  }

  close(name: SlotName): void {
    const isDelivered = this.slots.some(({ slot: one, state }) => one === name && state !== 'Making')
    if (isDelivered && this.live.delete(name)) this.closed.add(name)
  }

  /** New pods have what the Secret holds, and the others are gone before it is said. */
  rollOut(): void {
    if (this.secret === undefined) return
    this.rolledOut = this.key(this.secret.slot, this.secret.issuedAt)
    this.inPods.clear()
    this.inPods.add(this.rolledOut)
  }

  /** Whether another credential than the present one is wanted now. */
  isAnotherWanted(): boolean {
    if (this.secret === undefined) return true
    const { issuedAt } = this.secret
    const isAged = this.now.getTime() - issuedAt.getTime() >= 500 * minute
    return isAged || (this.rotate !== undefined && this.rotate > issuedAt)
  }

  end(name: SlotName): void {
    const login = this.live.get(name)
    if (login) {
      const isHeld = this.secret?.slot === name && this.secret.issuedAt.getTime() === login.issuedAt.getTime()
      expect(isHeld, 'what the Secret holds is never ended').toBe(false)
      const until = this.until.get(this.key(name, login.issuedAt))
      const isUsed =
        !this.hasSessions || this.busy.has(name) || (this.inPods.has(this.key(name, login.issuedAt)) && !this.isAnotherWanted())
      const isOver = until === undefined || until <= this.now || !isUsed
      expect(isOver, 'not before its overlap while somebody is connected, or pods have it').toBe(true)
    }
    if (this.closed.has(name)) expect(this.slots).toContainEqual(expect.objectContaining({ slot: name, state: 'Closed' }))
    this.live.delete(name)
    this.closed.delete(name)
  }

  check(): void {
    expect(this.live.size).toBeLessThanOrEqual(2)
    expect(this.slots.length).toBeLessThanOrEqual(2)
    if (this.secret) expect(this.live.get(this.secret.slot)?.proven ?? true).toBe(true)
  }
}

test('whatever breaks off: at most two live, none delivered unproven, none ended too early, and the end is one that is delivered', () => {
  const event: fc.Arbitrary<Happening> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ crashAfter: fc.integer({ min: 0, max: 5 }) }) },
    { weight: 2, arbitrary: fc.record({ minutes: fc.oneof(fc.constantFrom(0.1, 0.5), fc.integer({ min: 1, max: 400 })) }) },
    { weight: 1, arbitrary: fc.record({ connects: fc.constantFrom<SlotName>('a', 'b') }) },
    { weight: 1, arbitrary: fc.record({ closes: fc.constantFrom<SlotName>('a', 'b') }) },
    { weight: 1, arbitrary: fc.record({ leaves: fc.constantFrom<SlotName>('a', 'b') }) },
    { weight: 1, arbitrary: fc.constant('rotate' as const) },
    { weight: 2, arbitrary: fc.constant('rolled out' as const) },
    { weight: 1, arbitrary: fc.constant('secret deleted' as const) },
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.boolean(), (events, hasSessions) => {
      const world = new World(hasSessions)
      for (const one of events) world.happens(one)
      // The longest way: what drains ends, the one that was to be replaced is, and drains itself.
      for (let round = 0; round < 12; round++)
        if (world.step(9) === 'wait') world.now = new Date(world.now.getTime() + world.overlap)
      expect(world.secret).toBeDefined()
      expect(world.slots.filter(({ state }) => state === 'Delivered')).toHaveLength(1)
      expect(world.live.has(world.secret?.slot ?? 'a')).toBe(true)
    }),
    { numRuns: 500 },
  )
})
