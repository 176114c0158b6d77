// Waits until a condition holds and reports the last failure when it never does.
// It must never be used to wait for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, messageOf } from '../../src/lib/errors.ts'

export type WaitOptions = {
  readonly timeoutMilliseconds: number
  readonly everyMilliseconds?: number
  /** Why waiting is useless, when it is: ends the wait at once. */
  readonly hopeless?: () => Promise<string | undefined>
}

/** Polls `check` until it resolves to a value; undefined or an exception mean "not yet". `what` is a noun phrase for the error. */
export async function waitUntil<T>(what: string, check: () => Promise<T | undefined>, options: WaitOptions): Promise<T> {
  const deadline = Date.now() + options.timeoutMilliseconds
  let missing = 'not yet'
  for (;;) {
    try {
      const value = await check()
      if (value !== undefined) return value
    } catch (error) {
      missing = messageOf(error)
    }
    const reason = await options.hopeless?.()
    if (reason !== undefined) throw new AppError('unavailable', `gave up waiting for ${what}: ${reason}`)
    if (Date.now() > deadline)
      throw new AppError('unavailable', `waited ${options.timeoutMilliseconds / 1000} s for ${what}: ${missing}`)
    await sleep(options.everyMilliseconds ?? 100)
  }
}
