// The writes of each installation, in turns: those who wait are served in the order in which they came, whoever has many
// changes gets one turn like everybody, and nobody writes while GitHub asked the installation to wait. In memory of the leader;
// the next leader counts what the reports say about the last hour. It sends nothing.
import { reportWriteKinds } from '../../../api/apps/github-report.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type Allowance, allowance, counted, type Share, unknownWrites, waitFor, writeLimits } from './budget.ts'

export type Turn =
  /** So many writes may be sent now; they count from now on. */
  | { readonly kind: 'write'; readonly writes: number }
  /** Ask again then; the place in the queue is kept. */
  | { readonly kind: 'wait'; readonly milliseconds: number; readonly isPaused: boolean }

export type TurnRequest = {
  /** Host and id of the installation. */
  readonly installation: string
  /** Who waits: one place for each. */
  readonly key: string
  /** How many writes are due; a turn has five at most. */
  readonly wanted: number
  /** How many of them people wait for, which come first: those of others, too, go before the rest. All, when omitted. */
  readonly urgent?: number
  /** They are about a commit of a fork that nobody has approved: they never delay others, and have a small share of the hour. */
  readonly isUnapproved?: boolean
}

export type WriteQueue = {
  /** Takes a turn, or a place in the queue. */
  readonly take: (request: TurnRequest) => Turn
  /** Whether states that soon give way to others may be written. */
  readonly isRelaxed: (installation: string) => boolean
  /** Has nothing to write (any more): its place would delay the others. */
  readonly leave: (installation: string, key: string) => void
  /** GitHub asked the installation to wait. A longer wait is never shortened. */
  readonly pause: (installation: string, milliseconds: number) => void
}

const maxInstallations = 10_000
/** One of each kind. */
const writesOfTurn = reportWriteKinds.length
/** A place whose owner did not ask again so long after it should have is free. */
const lateMilliseconds = 30_000
const maxPause = 3_600_000
const shortestWait = 1_000

type Wants = Readonly<Record<Share, number>>
/** `approved`: everything that goes before what nobody has approved. */
type Before = Wants & { readonly approved: number }
type Place = Wants & { readonly until: number }
type Queue = {
  times: readonly number[]
  /** Of `times`, those of writes about commits that nobody has approved. */
  unapproved: readonly number[]
  readonly places: Map<string, Place>
  pausedUntil: number
}

export type WriteQueueDeps = {
  readonly clock: Pick<Clock, 'now'>
  /** When writes of the installation were sent, as far as it is known after a restart; in milliseconds. */
  readonly known: (installation: string) => readonly number[]
}

const unknown = (now: number): readonly number[] => Array.from({ length: unknownWrites }, () => now)

function wantsOf({ wanted, urgent = wanted, isUnapproved = false }: Omit<TurnRequest, 'installation' | 'key'>): Wants {
  const all = Math.min(wanted, writesOfTurn)
  if (isUnapproved) return { urgent: 0, rest: 0, unapproved: all }
  return { urgent: Math.min(urgent, all), rest: all - Math.min(urgent, all), unapproved: 0 }
}

/** How many of the wanted writes may be sent now, after what others want before them. */
function writesNow(wants: Wants, before: Before, allowed: Allowance): number {
  if (wants.unapproved > 0) {
    const left = Math.min(allowed.unapproved, allowed.rest - before.approved)
    return Math.min(wants.unapproved, left - before.unapproved)
  }
  const first = Math.max(0, Math.min(wants.urgent, allowed.writes - before.urgent))
  if (first < wants.urgent) return first
  return first + Math.max(0, Math.min(wants.rest, allowed.rest - wants.urgent - before.rest))
}

/** Milliseconds until it is worth asking again. */
function untilTurn({ times, unapproved }: Queue, wants: Wants, before: Before, now: number): number {
  const share: Share = wants.unapproved > 0 ? 'unapproved' : wants.urgent > 0 ? 'urgent' : 'rest'
  // Beyond what a minute allows: the turns before it take whole minutes.
  const further = Math.floor(before[share] / writeLimits.perMinute) * 60_000
  if (share !== 'unapproved') return waitFor(times, before[share] + 1, now, share) + further
  const inAll = waitFor(times, before.approved + before.unapproved + 1, now, 'rest')
  return Math.max(inAll, waitFor(unapproved, before.unapproved + 1, now, share)) + further
}

// Memory (writes to GitHub): installation → times of writes of an hour, who waits, until when GitHub asked to wait
//   life: an hour; a place 30 s longer than its wait
//   bound: 10,000 installations, 400 times each
//   freshness: leaving the queue
//   replicas: leader only; the next counts what the GitHubReports say
/** One per process; only the leader writes. */
export function createWriteQueue({ clock, known }: WriteQueueDeps): WriteQueue {
  const queues = new BoundedMap<Queue>(maxInstallations)

  function queueOf(installation: string, now: number): Queue {
    const found = queues.get(installation)
    const queue = found ?? {
      times: [...known(installation), ...unknown(now)],
      unapproved: [],
      places: new Map<string, Place>(),
      pausedUntil: 0,
    }
    if (found === undefined) queues.set(installation, queue)
    queue.times = counted(queue.times, now)
    queue.unapproved = counted(queue.unapproved, now)
    for (const [key, { until }] of queue.places) if (until < now) queue.places.delete(key)
    return queue
  }

  /** What others want first: urgent writes of those before the key, and before its rest also urgent ones of those behind it. */
  function wantedBefore({ places }: Queue, key: string): Before {
    const keys = [...places.keys()]
    const place = keys.indexOf(key)
    const others = [...places].filter(([other]) => other !== key).map(([, wants]) => wants)
    const before = place < 0 ? others : others.slice(0, place)
    const sum = (wants: readonly Wants[], part: keyof Wants): number => wants.reduce((total, each) => total + each[part], 0)
    return {
      urgent: sum(before, 'urgent'),
      rest: sum(others, 'urgent') + sum(before, 'rest'),
      unapproved: sum(before, 'unapproved'),
      approved: sum(others, 'urgent') + sum(others, 'rest'),
    }
  }

  function wait(queue: Queue, key: string, wants: Wants, milliseconds: number): Turn {
    const now = clock.now().getTime()
    const least = Math.max(shortestWait, Math.ceil(milliseconds))
    // Setting an existing key keeps its place.
    queue.places.set(key, { ...wants, until: now + least + lateMilliseconds })
    return { kind: 'wait', milliseconds: least, isPaused: queue.pausedUntil > now }
  }

  return {
    take({ installation, key, ...asked }) {
      const wants = wantsOf(asked)
      const now = clock.now().getTime()
      const queue = queueOf(installation, now)
      if (queue.pausedUntil > now) return wait(queue, key, wants, queue.pausedUntil - now)
      const before = wantedBefore(queue, key)
      const writes = writesNow(wants, before, allowance(queue.times, now, queue.unapproved))
      if (writes <= 0) return wait(queue, key, wants, untilTurn(queue, wants, before, now))
      queue.places.delete(key)
      const sent = Array.from({ length: writes }, () => now)
      queue.times = [...queue.times, ...sent]
      if (wants.unapproved > 0) queue.unapproved = [...queue.unapproved, ...sent]
      return { kind: 'write', writes }
    },
    isRelaxed(installation) {
      const now = clock.now().getTime()
      const { times, places } = queueOf(installation, now)
      // Strangers decide how much waits that nobody has approved.
      const waiting = [...places.values()].reduce((sum, { urgent, rest }) => sum + urgent + rest, 0)
      return waiting < writeLimits.perMinute && allowance(times, now).isRelaxed
    },
    leave(installation, key) {
      queues.get(installation)?.places.delete(key)
    },
    pause(installation, milliseconds) {
      const now = clock.now().getTime()
      const queue = queueOf(installation, now)
      queue.pausedUntil = Math.max(queue.pausedUntil, now + Math.min(maxPause, milliseconds))
    },
  }
}
