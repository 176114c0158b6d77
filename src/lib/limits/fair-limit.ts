// Limits how much work is in progress at once, fairly between keys: those who wait take turns by key, so that a key with much work delays
// another key by one turn and not by its whole queue. What does not fit is refused at once instead of being queued without bound.

export type FairLimitOptions = {
  /** How many run at once. */
  readonly concurrency: number
  /** How many of one key may wait. */
  readonly waitingPerKey: number
  /** How many may wait in all. */
  readonly waiting: number
}

export type FairLimit = {
  /** The result of `work`, or undefined when it was refused and not started. */
  readonly run: <T>(key: string, work: () => Promise<T>) => Promise<T> | undefined
}

/** Nothing in progress. */
export function createFairLimit({ concurrency, waitingPerKey, waiting }: FairLimitOptions): FairLimit {
  /** Key → those who wait. Keys in the order of their turns. */
  const queues = new Map<string, (() => void)[]>()
  let running = 0
  let queued = 0

  function startNext(): void {
    const [turn] = queues
    if (turn === undefined || running >= concurrency) return
    const [key, queue] = turn
    queues.delete(key)
    const start = queue.shift()
    if (queue.length > 0) queues.set(key, queue)
    queued -= 1
    running += 1
    start?.()
  }

  return {
    run(key, work) {
      const queue = queues.get(key) ?? []
      if (running >= concurrency && (queued >= waiting || queue.length >= waitingPerKey)) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.push(resolve)
      queues.set(key, queue)
      queued += 1
      startNext()
      return promise.then(work).finally(() => {
        running -= 1
        startNext()
      })
    },
  }
}
