// Time as a dependency: everything that asks for the hour or waits takes a Clock, so that tests decide what time it is.

export type Clock = {
  /** The present moment. */
  readonly now: () => Date
  /** Resolves after `milliseconds`, rejects with the signal's reason when it aborts first. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /** Milliseconds that never step back; `elapsed` falls back on `now` for clocks without it. */
  readonly monotonic?: () => number
}

/** For measuring and planning: setting the wall clock changes nothing about it. */
export function elapsed(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now().getTime()
}

/** Whether `work` ends within the time; it goes on when it does not. Rejects as `work` does. */
export async function endsWithin(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController()
  // Cut short, its answer comes too late to count.
  const tooLate = clock.sleep(milliseconds, ended.signal).catch(() => {})
  try {
    return await Promise.race([work.then(() => true), tooLate.then(() => false)])
  } finally {
    // With a reason: without one, each abort makes an error with its stack, and nobody looks at it.
    ended.abort('over')
  }
}

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
