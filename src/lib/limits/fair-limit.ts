// A fair semaphore: so many permits at once, round-robin between keys, so that a key with much work delays another key by one
// turn and not by its whole queue. What does not fit is refused at once instead of being queued without bound.

export type FairLimitOptions = {
  /** How many run at once. */
  readonly concurrency: number
  /** How many of one key run at once; default: all. */
  readonly perKey?: number
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
export function createFairLimit({ concurrency, perKey = concurrency, waitingPerKey, waiting }: FairLimitOptions): FairLimit {
  /** Key → those who wait. Keys in the order of their turns. */
  const queues = new Map<string, (() => void)[]>()
  const runningOf = new Map<string, number>()
  let running = 0
  let queued = 0

  function count(key: string, change: 1 | -1): void {
    running += change
    const left = (runningOf.get(key) ?? 0) + change
    if (left === 0) runningOf.delete(key)
    else runningOf.set(key, left)
  }

  function startNext(): void {
    if (running >= concurrency) return
    const turn = queues.entries().find(([key]) => (runningOf.get(key) ?? 0) < perKey)
    if (turn === undefined) return
    const [key, queue] = turn
    queues.delete(key)
    const start = queue.shift()
    if (queue.length > 0) queues.set(key, queue)
    queued -= 1
    count(key, 1)
    start?.()
  }

  return {
    run(key, work) {
      const queue = queues.get(key) ?? []
      const isFull = running >= concurrency || (runningOf.get(key) ?? 0) >= perKey
      if (isFull && (queued >= waiting || queue.length >= waitingPerKey)) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.push(resolve)
      queues.set(key, queue)
      queued += 1
      startNext()
      return promise.then(work).finally(() => {
        count(key, -1)
        startNext()
      })
    },
  }
}
