// Waits for a condition instead of a time: asks again until it holds, and says what was last missing when it never does.
// It must never be used to wait for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, messageOf } from '../../src/lib/errors.ts'

export type WaitOptions = {
  readonly timeoutMilliseconds: number
  readonly everyMilliseconds?: number
  /** A reason to stop waiting at once: what is waited for can no longer happen. */
  readonly hopeless?: () => Promise<string | undefined>
}

/** `check` gives a value when the condition holds, undefined or an exception while it does not. */
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
    if (reason !== undefined) throw new AppError('unavailable', `${what} cannot happen: ${reason}`)
    if (Date.now() > deadline)
      throw new AppError('unavailable', `${what} did not happen within ${options.timeoutMilliseconds} ms: ${missing}`)
    await sleep(options.everyMilliseconds ?? 100)
  }
}
