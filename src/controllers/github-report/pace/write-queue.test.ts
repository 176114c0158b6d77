// The writes of an installation stay within GitHub's limits in every window, take turns, and stop while GitHub asks for it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowance, waitFor, writeLimits } from './budget.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'

const minute = 60_000
const hour = 3_600_000
const start = Date.parse('2026-01-01T00:00:00Z')

const installation = 'github.test/app/1'

function queueAt(known: readonly number[] = []) {
  let now = start
  const queue = createWriteQueue({ clock: { now: () => new Date(now) }, known: () => known })
  // The first minute of a process is another one.
  for (const one of [installation, 'other']) queue.isRelaxed(one)
  now += minute
  const advance = (milliseconds: number): void => {
    now += milliseconds
  }
  return { queue, advance, now: () => now }
}

const take = (queue: WriteQueue, key: string, wanted = 4) => queue.take({ installation, key, wanted })

/** Asks again whenever a wait is over until nobody waits; returns when each key wrote. */
function serve(
  wants: ReadonlyMap<string, number>,
): readonly { readonly key: string; readonly at: number; readonly writes: number }[] {
  const { queue, advance, now } = queueAt()
  const left = new Map(wants)
  const begin = now()
  const due = new Map([...wants.keys()].map(key => [key, begin]))
  const served: { key: string; at: number; writes: number }[] = []
  while (left.size > 0) {
    const [key = '', at = 0] = [...due].sort(([, a], [, b]) => a - b)[0] ?? []
    advance(Math.max(0, at - now()))
    const turn = take(queue, key, left.get(key) ?? 0)
    if (turn.kind === 'wait') due.set(key, now() + turn.milliseconds)
    else {
      served.push({ key, at: now() - begin, writes: turn.writes })
      const rest = (left.get(key) ?? 0) - turn.writes
      if (rest > 0) {
        left.set(key, rest)
        due.set(key, now() + 1)
      } else {
        left.delete(key)
        due.delete(key)
      }
    }
  }
  return served
}

describe('the budget', () => {
  test('is full at first, empty after the writes of a minute, and full again a minute later', () => {
    const full = writeLimits.perMinute
    expect(allowance([], start)).toEqual({ writes: full, rest: full, unapproved: full, isRelaxed: true })
    const times = Array.from({ length: writeLimits.perMinute }, () => start)
    expect(allowance(times, start + minute - 1).writes).toBe(0)
    expect(allowance(times, start + minute).writes).toBe(writeLimits.perMinute)
  })

  test('of an hour is empty after its writes, however they are spread', () => {
    const times = Array.from({ length: writeLimits.perHour }, (_, index) => start + index * 8_000)
    expect(allowance(times, start + hour - 1).writes).toBe(0)
    expect(allowance(times, start + hour).writes).toBe(1)
    expect(allowance(times.slice(0, writeLimits.perHour / 2 - 1), start + hour - 1).isRelaxed).toBe(true)
    expect(allowance(times.slice(0, writeLimits.perHour / 2), start + hour - 1).isRelaxed).toBe(false)
  })

  test('does not count times in the future: a clock that was set back stops nothing', () => {
    const times = Array.from({ length: writeLimits.perHour }, () => start + hour)
    expect(allowance(times, start).writes).toBe(writeLimits.perMinute)
  })

  test('allows what was waited for when the wait is over, and less before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: hour }), { maxLength: 450 }),
        fc.integer({ min: 1, max: writeLimits.perMinute }),
        (ages, wanted) => {
          const now = start + hour
          const times = ages.map(age => now - age)
          const wait = waitFor(times, wanted, now)
          expect(allowance(times, now + wait).writes).toBeGreaterThanOrEqual(wanted)
          if (wait > 0) expect(allowance(times, now + wait - 1).writes).toBeLessThan(wanted)
        },
      ),
    )
  })
})

describe('the queue of an installation', () => {
  test('serves everybody within the limits of every minute and hour', () => {
    const wants = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 150 })
    fc.assert(
      fc.property(wants, list => {
        const served = serve(new Map(list.map((wanted, index) => [`pr-${index}`, wanted])))
        const times = served.flatMap(({ at, writes }) => Array.from({ length: writes }, () => at))
        expect(times.length).toBe(list.reduce((sum, wanted) => sum + wanted, 0))
        for (const [window, most] of [
          [minute, writeLimits.perMinute],
          [hour, writeLimits.perHour],
        ] as const)
          for (const from of new Set(times))
            expect(times.filter(time => time >= from && time < from + window).length).toBeLessThanOrEqual(most)
      }),
      { numRuns: 40 },
    )
  })

  test('gives everybody a turn before anybody has a second one', () => {
    const wants = new Map([['many', 200], ...Array.from({ length: 20 }, (_, index) => [`pr-${index}`, 4] as const)])
    const served = serve(wants)
    const busy = served.filter(({ at }) => at > 0)
    const turns = busy.flatMap(({ key }, index) => (key === 'many' ? [index] : []))
    const firstOthers = new Set(busy.slice(0, turns[1]).map(({ key }) => key))
    expect(
      [...wants.keys()].filter(key => !firstOthers.has(key) && !served.some(one => one.key === key && one.at === 0)),
    ).toEqual([])
    const last = Math.max(...served.filter(({ key }) => key !== 'many').map(({ at }) => at))
    expect(last).toBeLessThanOrEqual(2 * minute)
  })

  /** Uses up a minute. */
  const fill = (queue: WriteQueue): void => {
    for (let index = 0; index < writeLimits.perMinute / 5; index++)
      expect(take(queue, `full-${index}`, 5)).toEqual({ kind: 'write', writes: 5 })
  }

  test('leaves room for those who wait when somebody else asks first', () => {
    const { queue, advance } = queueAt()
    fill(queue)
    for (let index = 0; index < 9; index++) expect(take(queue, `waits-${index}`, 5)).toMatchObject({ kind: 'wait' })
    advance(minute)
    expect(take(queue, 'new', 5)).toEqual({ kind: 'write', writes: 5 })
    expect(take(queue, 'newer', 5)).toMatchObject({ kind: 'wait' })
    for (let index = 0; index < 9; index++) expect(take(queue, `waits-${index}`, 5)).toEqual({ kind: 'write', writes: 5 })
  })

  test('keeps the place of who asks again, and frees that of who leaves or does not come back', () => {
    const { queue, advance } = queueAt()
    fill(queue)
    for (let index = 0; index < 10; index++) take(queue, `waits-${index}`, 5)
    take(queue, 'waits-0', 5)
    expect(take(queue, 'last', 5)).toMatchObject({ kind: 'wait' })
    advance(minute)
    expect(take(queue, 'last', 5)).toMatchObject({ kind: 'wait' })
    queue.leave(installation, 'waits-0')
    expect(take(queue, 'last', 5)).toEqual({ kind: 'write', writes: 5 })
    advance(2 * minute)
    // Those who waited did not come back.
    fill(queue)
  })

  test('stops while GitHub asked to wait, and never for less; other installations go on', () => {
    const { queue, advance } = queueAt()
    queue.pause(installation, 60_000)
    queue.pause(installation, 5_000)
    expect(take(queue, 'a')).toEqual({ kind: 'wait', milliseconds: 60_000, isPaused: true })
    expect(queue.take({ installation: 'other', key: 'a', wanted: 1 })).toEqual({ kind: 'write', writes: 1 })
    advance(60_000)
    expect(take(queue, 'a')).toEqual({ kind: 'write', writes: 4 })
  })

  test('stays within the limit of a minute also when another process has just written', () => {
    let now = start
    const queue = createWriteQueue({ clock: { now: () => new Date(now) }, known: () => [] })
    let sent = 0
    for (let index = 0; index < 20; index++) {
      const turn = take(queue, `pr-${index}`, 5)
      if (turn.kind === 'write') sent += turn.writes
    }
    expect(sent).toBe(30)
    expect(sent + writeLimits.perMinute).toBeLessThanOrEqual(80)
    now += minute
    expect(take(queue, 'pr-6', 5)).toMatchObject({ kind: 'write' })
  })

  test('counts what the reports say about the last hour after a restart', () => {
    const { queue } = queueAt(Array.from({ length: writeLimits.perHour }, (_, index) => start - index * 8_000))
    expect(take(queue, 'a')).toMatchObject({ kind: 'wait' })
    expect(queue.isRelaxed(installation)).toBe(false)
  })

  test('the comments and statuses of everybody come before the deployments of anybody, and in the hour there is room for more of them', () => {
    const { queue, advance, now } = queueAt()
    const pulls = Array.from({ length: 100 }, (_, index) => `pr-${index}`)
    const left = new Map(pulls.map(key => [key, { urgent: 2, rest: 2 }]))
    const due = new Map([...left.keys()].map(key => [key, start]))
    const sent: { at: number; urgent: number; rest: number }[] = []
    while (left.size > 0 && now() < start + 3 * hour) {
      const [key = '', at = 0] = [...due].sort(([, a], [, b]) => a - b)[0] ?? []
      advance(Math.max(0, at - now()))
      const { urgent, rest } = left.get(key) ?? { urgent: 0, rest: 0 }
      const turn = queue.take({ installation, key, wanted: urgent + rest, urgent })
      if (turn.kind === 'wait') {
        due.set(key, now() + turn.milliseconds)
        continue
      }
      const first = Math.min(urgent, turn.writes)
      sent.push({ at: now() - start, urgent: first, rest: turn.writes - first })
      const next = { urgent: urgent - first, rest: rest - (turn.writes - first) }
      if (next.urgent + next.rest > 0) left.set(key, next)
      else left.delete(key)
      if (next.urgent + next.rest > 0) due.set(key, now() + 1)
      else due.delete(key)
    }
    const lastUrgent = Math.max(...sent.filter(({ urgent }) => urgent > 0).map(({ at }) => at))
    const inHour = sent.filter(({ at }) => at < hour).reduce((sum, { urgent, rest }) => sum + urgent + rest, 0)
    expect(left.size).toBe(0)
    expect(lastUrgent).toBeLessThanOrEqual(6 * minute)
    expect(inHour).toBeLessThanOrEqual(300)
    expect(sent.reduce((sum, { urgent, rest }) => sum + urgent + rest, 0)).toBe(400)
  })

  test('states that give way are left out while more than a minute of writes waits', () => {
    const { queue } = queueAt()
    fill(queue)
    for (let index = 0; index < 9; index++) take(queue, `waits-${index}`, 5)
    expect(queue.isRelaxed(installation)).toBe(true)
    take(queue, 'waits-9', 5)
    expect(queue.isRelaxed(installation)).toBe(false)
  })

  /** One write of each stranger whose wait is over; returns how many were sent. */
  function serveStrangers(queue: WriteQueue, due: Map<string, number>, now: number): number {
    let sent = 0
    for (const key of [...due].flatMap(([stranger, at]) => (at > now ? [] : [stranger]))) {
      const turn = queue.take({ installation, key, wanted: 1, urgent: 1, isUnapproved: true })
      if (turn.kind === 'wait') due.set(key, now + turn.milliseconds)
      else {
        sent += 1
        due.delete(key)
      }
    }
    return sent
  }

  test('what strangers decide never delays others, has sixty writes of an hour, and arrives', () => {
    const { queue, advance, now } = queueAt()
    const due = new Map(Array.from({ length: 200 }, (_, index) => [`fork-${index}`, now()] as const))
    const sent: number[] = []
    for (let minutes = 0; due.size > 0 && minutes < 5 * 60; minutes++) {
      // A pull request of the repository itself, which has something to say in every minute.
      expect(take(queue, `own-${minutes}`, 4)).toEqual({ kind: 'write', writes: 4 })
      // More than a hundred strangers wait: the states of others that give way are written all the same.
      if (minutes < 20) expect(queue.isRelaxed(installation)).toBe(true)
      sent.push(serveStrangers(queue, due, now()))
      advance(minute)
    }
    expect(due.size).toBe(0)
    const inHour = sent.map((_, from) => sent.slice(from, from + 60).reduce((sum, count) => sum + count, 0))
    expect(Math.max(...inHour)).toBeLessThanOrEqual(60)
  })
})
