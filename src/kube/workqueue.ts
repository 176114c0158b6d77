// The queue of keys between changes and workers. A key is never in two workers at once, is never lost, and waits at most once:
// what is added while its work runs makes it run once more afterwards. Urgent keys go before the ones of a first list or a resync.
// It holds no objects and decides no delays.
import type { Clock } from '../lib/clock.ts'

export type Priority = 'normal' | 'low'

export type WorkQueue = {
  /** `low` never lowers a key that already waits as `normal`. */
  readonly add: (key: string, priority?: Priority) => void
  /** Adds later; of several delays of one key the earliest counts. */
  readonly addAfter: (key: string, milliseconds: number, priority?: Priority) => void
  /** The next key; undefined once the queue is shut down or the signal aborts. Every key taken must be given to `done`. */
  readonly take: (signal?: AbortSignal) => Promise<string | undefined>
  readonly done: (key: string) => void
  /** Takers get undefined from now on, delays are dropped, additions ignored. */
  readonly shutDown: () => void
  /** Resolves when no key is in work. */
  readonly idle: () => Promise<void>
  /** Keys that wait for a worker, delayed ones not counted. */
  readonly depth: () => number
}

type Delay = { readonly at: number; readonly cancel: AbortController; readonly priority: Priority }

export function createWorkQueue(deps: { readonly clock: Clock }): WorkQueue {
  const { clock } = deps
  const waiting: Record<Priority, Set<string>> = { normal: new Set(), low: new Set() }
  const inWork = new Set<string>()
  const again = new Map<string, Priority>()
  const delays = new Map<string, Delay>()
  const takers: ((key: string | undefined) => void)[] = []
  const idleWaiters: (() => void)[] = []
  let open = true

  function add(key: string, priority: Priority = 'normal'): void {
    if (!open) return
    if (inWork.has(key)) {
      if (again.get(key) !== 'normal') again.set(key, priority)
      return
    }
    if (waiting.normal.has(key)) return
    if (priority === 'normal') waiting.low.delete(key)
    waiting[priority].add(key)
    serve()
  }

  function next(): string | undefined {
    for (const priority of ['normal', 'low'] as const) {
      const [key] = waiting[priority]
      if (key === undefined) continue
      waiting[priority].delete(key)
      return key
    }
    return undefined
  }

  function serve(): void {
    while (takers.length > 0) {
      const key = next()
      if (key === undefined) return
      inWork.add(key)
      takers.shift()?.(key)
    }
  }

  function cancelDelay(key: string): void {
    delays.get(key)?.cancel.abort()
    delays.delete(key)
  }

  return {
    add,
    addAfter(key, milliseconds, priority = 'normal') {
      if (!open) return
      if (milliseconds <= 0) return add(key, priority)
      const at = clock.now().getTime() + milliseconds
      const held = delays.get(key)
      if (held !== undefined && held.at <= at) return
      held?.cancel.abort()
      const cancel = new AbortController()
      delays.set(key, { at, cancel, priority })
      const ring = (): void => {
        if (cancel.signal.aborted) return
        delays.delete(key)
        add(key, priority)
      }
      // A cancelled delay rejects: that is its whole meaning.
      clock.sleep(milliseconds, cancel.signal).then(ring, () => {})
    },
    take(signal) {
      if (!open || signal?.aborted) return Promise.resolve(undefined)
      return new Promise(resolve => {
        const leave = (): void => {
          const index = takers.indexOf(taker)
          if (index !== -1) takers.splice(index, 1)
          resolve(undefined)
        }
        const taker = (key: string | undefined): void => {
          signal?.removeEventListener('abort', leave)
          resolve(key)
        }
        signal?.addEventListener('abort', leave, { once: true })
        takers.push(taker)
        serve()
      })
    },
    done(key) {
      if (!inWork.delete(key)) return
      const priority = again.get(key)
      again.delete(key)
      if (priority !== undefined) add(key, priority)
      if (inWork.size === 0) for (const resolve of idleWaiters.splice(0)) resolve()
    },
    shutDown() {
      open = false
      for (const key of [...delays.keys()]) cancelDelay(key)
      for (const resolve of takers.splice(0)) resolve(undefined)
    },
    idle: () => (inWork.size === 0 ? Promise.resolve() : new Promise(resolve => idleWaiters.push(resolve))),
    depth: () => waiting.normal.size + waiting.low.size,
  }
}
