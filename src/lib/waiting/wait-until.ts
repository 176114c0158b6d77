// The one way in which tests and tools wait: for a condition, with a limit in granted time (limits.ts). It must never be used to wait for a fixed time.
import { inspect } from 'node:util'
import { AppError, messageOf } from '../errors.ts'
import { grantTime, type Machine, thisMachine } from './granted-time.ts'
import { limits } from './limits.ts'

export type WaitOptions = {
  /** Granted time, by default `limits.usual`. */
  readonly timeoutMilliseconds?: number
  /** Longest pause between two looks, by default 50; the first pauses are shorter. */
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
const mostSeen = 600

/**
 * Polls `check` until it has a value: undefined, false or an exception mean "not yet". Rejects with AppError `unavailable` when the limit is used up, after
 * a look that began later than that; the error says `what` (a noun phrase) was awaited, for how long, and what the last look saw: what it passed to
 * `seen`, or else its exception.
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
    const { value, missing } = await look(check)
    if (value !== undefined && value !== false) return value
    const reason = await hopeless?.()
    if (reason !== undefined) throw new AppError('unavailable', `gave up waiting for ${what}: ${reason}`)
    if (isLast) throw new AppError('unavailable', lateMessage(what, timeoutMilliseconds, time.spent(), missing))
    await machine.pause(pause)
  }
}

type Look<T> = { readonly value: T | undefined | false; readonly missing: string }

async function look<T>(check: (seen: Seen) => T | undefined | false | Promise<T | undefined | false>): Promise<Look<T>> {
  const notes: unknown[] = []
  const seen: Seen = value => {
    notes.push(value)
    return value
  }
  try {
    const value = await check(seen)
    return { value, missing: notes.length === 0 ? 'not yet' : described(notes) }
  } catch (error) {
    if (error instanceof Hopeless) throw error
    return { value: undefined, missing: [messageOf(error), ...(notes.length === 0 ? [] : [described(notes)])].join('; ') }
  }
}

function described(notes: readonly unknown[]): string {
  return `last seen: ${notes.map(note => (typeof note === 'string' ? note : inspect(note, { depth: 6, breakLength: 120 }))).join(', ')}`
}

function lateMessage(what: string, limit: number, { wall, granted }: { wall: number; granted: number }, missing: string): string {
  const time = `${wall.toFixed(1)} s, of which the machine granted ${granted.toFixed(1)} of ${limit / 1000} s`
  return `waited ${time}, for ${what}: ${missing.length > mostSeen ? `${missing.slice(0, mostSeen)}…` : missing}`
}
