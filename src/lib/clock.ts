// Time as a dependency: all code that reads the time or waits takes a Clock, so that tests can control it.

export type Clock = {
  /** The wall clock. */
  readonly now: () => Date
  /** Resolves after `milliseconds`; rejects with the signal's reason when it aborts first. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /** Milliseconds that never decrease; for clocks without it `elapsed` uses `now`. */
  readonly monotonic?: () => number
}

/** Milliseconds for measuring and planning, independent of changes of the wall clock. */
export function elapsed(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now().getTime()
}

/** Whether `work` ends within the time. It does not stop work that takes longer. Rejects as `work` does. */
export async function endsWithin(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController()
  // Once `work` has ended, the sleep rejects and its result no longer counts.
  const tooLate = clock.sleep(milliseconds, ended.signal).catch(() => {})
  try {
    return await Promise.race([work.then(() => true), tooLate.then(() => false)])
  } finally {
    // With a reason, because an abort without one creates an error with a stack.
    ended.abort('over')
  }
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, milliseconds)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}
