// The order in which deliveries of one hook leave: one at a time, in the order they came in, unless a fault holds one back. Never
// knows what a delivery is.
export type HookQueues = {
  /** Queues a job of a hook; `false` when too many wait. */
  add(hookId: number, job: () => Promise<void>): boolean
  /** Queues it so much later. */
  addLater(hookId: number, job: () => Promise<void>, milliseconds: number): void
  /** Queues it behind the next job of the hook, or after so many milliseconds. */
  addBehindNext(hookId: number, job: () => Promise<void>, milliseconds: number): void
  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void>
  /** Drops what waits; what is under way ends. */
  stop(): Promise<void>
}

/** Deliveries waiting per hook; keeping more in order would cost too much memory, so new ones are lost. */
const longestQueue = 10_000

export function createHookQueues(): HookQueues {
  let stopped = false
  const queues = new Map<number, { waiting: number; tail: Promise<void> }>()
  const held = new Map<number, Set<() => void>>()
  const later = new Set<{ readonly settled: Promise<void>; readonly drop: () => void }>()

  const enqueue = (hookId: number, job: () => Promise<void>): boolean => {
    const queue = queues.get(hookId) ?? { waiting: 0, tail: Promise.resolve() }
    queues.set(hookId, queue)
    if (queue.waiting >= longestQueue) return false
    queue.waiting += 1
    queue.tail = queue.tail
      .then(() => (stopped ? undefined : job()))
      .finally(() => {
        queue.waiting -= 1
      })
    return true
  }

  /** Runs `release` once: after the time, when called, or never when dropped. */
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
