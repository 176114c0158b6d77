// The one way in which tests and tools wait: for a condition, with a limit in granted time (limits.ts). It must never be
// used to wait for a fixed time.
import { inspect } from 'node:util'
import { AppError, messageOf } from '../errors.ts'
import { type GrantedTime, grantTime, type Machine, thisMachine } from './granted-time.ts'
import { limits } from './limits.ts'

export type WaitOptions = {
  /** Granted time, by default `limits.usual`. */
  readonly timeoutMilliseconds?: number
  /** Pause between two looks, by default 50; the first are shorter, and those after a look that takes longer are longer. */
  readonly everyMilliseconds?: number
  /** Why waiting is useless, when it is: ends the wait at once. */
  readonly hopeless?: () => Promise<string | undefined>
  readonly machine?: Machine
}

/** Notes what a check sees, for the error, and returns it. */
export type Seen = <V>(value: V) => V

/** Thrown by a check, it ends the wait at once and is its error. */
export class Hopeless extends Error {
  override readonly name: string = 'Hopeless'
}

const firstPause = 5
/** A look that is work, such as a start of kubectl, is followed by a rest as long as itself, at most this. */
const maxRestMilliseconds = 250
const maxSeenCharacters = 600
const tickMilliseconds = 1000
/** Taken before a test replaces the timers of its process. */
const [interval, clear] = [setInterval, clearInterval]

/**
 * Polls `check` until it has a value: undefined, false or an exception mean "not yet". Rejects with AppError `unavailable`
 * when the limit is used up, after a look that began later than that, or when one look alone takes as long. The error says
 * `what` (a noun phrase) was awaited, for how long, and what the last look saw: what it passed to `seen`, or else its
 * exception.
 */
export async function waitUntil<T>(
  what: string,
  check: (seen: Seen) => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const { timeoutMilliseconds = limits.usual, everyMilliseconds = 50, hopeless, machine = thisMachine() } = options
  const time = grantTime(timeoutMilliseconds, machine)
  for (let pause = Math.min(firstPause, everyMilliseconds); ; pause = Math.min(pause * 2, everyMilliseconds)) {
    const isLast = time.isOver()
    const began = machine.now()
    const { value, notes, failure } = await endedInTime(what, look(check), { timeoutMilliseconds, machine })
    const cost = machine.now() - began
    if (value !== undefined && value !== false) return value
    const reason = await hopeless?.()
    if (reason !== undefined) throw new AppError('unavailable', `gave up waiting for ${what}: ${reason}`)
    if (isLast)
      throw new AppError('unavailable', `${spentText(time, timeoutMilliseconds)}, for ${what}: ${missing(notes, failure)}`)
    await machine.pause(Math.max(pause, Math.min(cost, maxRestMilliseconds)))
  }
}

/** Rejects when one look alone takes longer than all of them may: what it asks does not answer. */
async function endedInTime<L>(
  what: string,
  looking: Promise<L>,
  { timeoutMilliseconds, machine }: { readonly timeoutMilliseconds: number; readonly machine: Machine },
): Promise<L> {
  let timer: NodeJS.Timeout | undefined
  let time: GrantedTime | undefined
  const hung = new Promise<never>((_, reject) => {
    const tick = (): void => {
      time ??= grantTime(timeoutMilliseconds, machine)
      if (time.isOver())
        reject(new AppError('unavailable', `${spentText(time, timeoutMilliseconds)}, for ${what}: one look has not ended`))
    }
    timer = interval(tick, Math.min(tickMilliseconds, timeoutMilliseconds))
  })
  try {
    return await Promise.race([looking, hung])
  } finally {
    clear(timer)
  }
}

type Look<T> = { readonly value?: T | undefined | false; readonly notes: readonly unknown[]; readonly failure?: unknown }

async function look<T>(check: (seen: Seen) => T | undefined | false | Promise<T | undefined | false>): Promise<Look<T>> {
  const notes: unknown[] = []
  const seen: Seen = value => {
    notes.push(value)
    return value
  }
  try {
    return { value: await check(seen), notes }
  } catch (failure) {
    if (failure instanceof Hopeless) throw failure
    return { notes, failure }
  }
}

function spentText(time: GrantedTime, limitMilliseconds: number): string {
  const { wall, granted } = time.spent()
  return `waited ${wall.toFixed(1)} s, of which the machine granted ${granted.toFixed(1)} of ${limitMilliseconds / 1000} s`
}

/** What the last look lacked: its exception in full, and at most `maxSeenCharacters` characters of what it saw. */
function missing(notes: readonly unknown[], failure: unknown): string {
  const noted = notes.map(note => (typeof note === 'string' ? note : inspect(note, { depth: 6, breakLength: 120 }))).join(', ')
  const seen = noted.length > maxSeenCharacters ? `${noted.slice(0, maxSeenCharacters)}…` : noted
  const parts = [...(failure === undefined ? [] : [messageOf(failure)]), ...(notes.length === 0 ? [] : [`last seen: ${seen}`])]
  return parts.length === 0 ? 'not yet' : parts.join('; ')
}
