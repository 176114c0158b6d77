// Time as a dependency: everything that asks for the hour or waits takes a Clock, so that tests decide what time it is.

export type Clock = {
  /** The present moment. */
  readonly now: () => Date
  /** Resolves after `milliseconds`, rejects with the signal's reason when it aborts first. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
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
