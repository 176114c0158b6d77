// The order of the deliveries of one hook: one at a time, in the order of their events, unless a fault delays one. It never
// knows what a delivery is.
export type HookQueues = {
  /** Queues a job of a hook; `false` when the queue is full. */
  add(hookId: number, job: () => Promise<void>): boolean
  /** Queues it after this time. */
  addLater(hookId: number, job: () => Promise<void>, milliseconds: number): void
  /** Queues it after the next job of the hook, or after this many milliseconds. */
  addBehindNext(hookId: number, job: () => Promise<void>, milliseconds: number): void
  /** Resolves when no job is queued or in progress. */
  idle(): Promise<void>
  /** Drops the queued jobs; a job in progress ends. */
  stop(): Promise<void>
}

/** The most queued deliveries per hook; further ones are lost, to bound the memory. */
const maxQueue = 10_000

export function createHookQueues(): HookQueues {
  let stopped = false
  const queues = new Map<number, { waiting: number; tail: Promise<void> }>()
  const held = new Map<number, Set<() => void>>()
  const later = new Set<{ readonly settled: Promise<void>; readonly drop: () => void }>()

  const enqueue = (hookId: number, job: () => Promise<void>): boolean => {
    const queue = queues.get(hookId) ?? { waiting: 0, tail: Promise.resolve() }
    queues.set(hookId, queue)
    if (queue.waiting >= maxQueue) return false
    queue.waiting += 1
    queue.tail = queue.tail
      .then(() => (stopped ? undefined : job()))
      .finally(() => {
        queue.waiting -= 1
      })
    return true
  }

  /** Runs `release` once: after the time or when called; never when it is dropped first. */
  const postpone = (milliseconds: number, release: () => void): (() => void) => {
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => end(true), milliseconds)
    const end = (run: boolean): void => {
      if (!later.delete(entry)) return
      clearTimeout(timer)
      if (run) release()
      resolve()
    }
    const entry = { settled, drop: () => end(false) }
    later.add(entry)
    return () => end(true)
  }

  const idle = async (): Promise<void> => {
    while (later.size > 0 || [...queues.values()].some(queue => queue.waiting > 0))
      await Promise.all([...[...later].map(one => one.settled), ...[...queues.values()].map(queue => queue.tail)])
  }

  return {
    add: (hookId, job) => {
      const taken = enqueue(hookId, job)
      for (const release of [...(held.get(hookId) ?? [])]) release()
      return taken
    },
    addLater: (hookId, job, milliseconds) => void postpone(milliseconds, () => enqueue(hookId, job)),
    addBehindNext: (hookId, job, milliseconds) => {
      const own = held.get(hookId) ?? new Set()
      held.set(hookId, own)
      const release = postpone(milliseconds, () => {
        own.delete(release)
        enqueue(hookId, job)
      })
      own.add(release)
    },
    idle,
    stop: () => {
      stopped = true
      for (const one of later) one.drop()
      return idle()
    },
  }
}
