// The queue of keys between changes and workers. A key is never in progress twice, is never lost, and waits at most once: a key
// added while it is in progress is queued again when it is done. Keys of priority `normal` go before `low` ones (first list,
// resync); within a priority tenants take turns, and within a tenant the first comes first. It holds no objects and does not
// choose delays.
import { type Clock, elapsed } from '../../lib/clock.ts'
import { createDelays } from './delays.ts'

export type Priority = 'normal' | 'low'
const priorities = ['normal', 'low'] as const

export type WorkQueueDeps = {
  readonly clock: Clock
  /** The owner of a key, for fairness. Default: all keys belong to one tenant. */
  readonly tenantOf?: (key: string) => string
  /** Maximum number of keys of one tenant in progress. Default: no limit. */
  readonly perTenant?: number
  /** Called when `next` may return a key, possibly in the middle of a cache update: schedule work, do not start it. */
  readonly onReady?: () => void
  /** Called with the time that a key waited when it is taken. */
  readonly onTake?: (waitedMilliseconds: number) => void
  readonly onAdd?: () => void
}

export type WorkQueue = {
  /** `low` never lowers a key that already waits as `normal`. */
  readonly add: (key: string, priority?: Priority) => void
  /** Adds later; of several delays of one key the earliest counts. */
  readonly addAfter: (key: string, milliseconds: number, priority?: Priority) => void
  /** Takes the next key, if there is one. Every key taken must be passed to `done`. */
  readonly next: () => string | undefined
  readonly done: (key: string) => void
  /** The key stays in progress, but no longer counts against its tenant's limit. `done` must still follow. */
  readonly abandon: (key: string) => void
  /** From now on `next` returns nothing, delays are dropped and additions ignored. */
  readonly shutDown: () => void
  /** Resolves when no key is in progress. */
  readonly idle: () => Promise<void>
  /** The number of keys that wait for a worker, delayed ones not counted. */
  readonly depth: (priority: Priority) => number
  /** For each key in progress, how long it has been, in milliseconds. */
  readonly unfinished: () => readonly number[]
}

/** Tenant → key → since when it waits. Tenants in the order of their turns, keys in the order of their arrival. */
type Queue = Map<string, Map<string, number>>

/** An empty queue. */
export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const { clock, tenantOf = () => '', perTenant = Number.POSITIVE_INFINITY, onReady = () => {} } = deps
  const queues: Record<Priority, Queue> = { normal: new Map(), low: new Map() }
  const inProgress = new Map<string, number>()
  const inProgressOfTenant = new Map<string, Set<string>>()
  const addedInProgress = new Map<string, Priority>()
  const delays = createDelays(clock, add)
  const idleWaiters: (() => void)[] = []
  let open = true
  const now = (): number => elapsed(clock)

  /** Removes a key from a queue; returns since when it waited there. */
  function remove(queue: Queue, tenant: string, key: string): number | undefined {
    const keys = queue.get(tenant)
    const since = keys?.get(key)
    if (keys?.delete(key) && keys.size === 0) queue.delete(tenant)
    return since
  }

  function add(key: string, priority: Priority = 'normal'): void {
    if (!open) return
    deps.onAdd?.()
    if (inProgress.has(key)) {
      if (addedInProgress.get(key) !== 'normal') addedInProgress.set(key, priority)
      return
    }
    const tenant = tenantOf(key)
    if (queues.normal.get(tenant)?.has(key) || queues[priority].get(tenant)?.has(key)) return
    const since = remove(queues.low, tenant, key) ?? now()
    const keys = queues[priority].get(tenant) ?? new Map()
    queues[priority].set(tenant, keys.set(key, since))
    onReady()
  }

  function next(): string | undefined {
    if (!open) return undefined
    for (const priority of priorities)
      for (const [tenant, keys] of queues[priority]) {
        if ((inProgressOfTenant.get(tenant)?.size ?? 0) < perTenant) return take(queues[priority], tenant, keys)
      }
    return undefined
  }

  /** Takes the first of a tenant's keys. The tenant's next turn comes after the turns of all others. */
  function take(queue: Queue, tenant: string, keys: Map<string, number>): string | undefined {
    const [key] = keys.keys()
    if (key === undefined) return undefined
    const since = keys.get(key) ?? now()
    keys.delete(key)
    queue.delete(tenant)
    if (keys.size > 0) queue.set(tenant, keys)
    inProgressOfTenant.set(tenant, (inProgressOfTenant.get(tenant) ?? new Set()).add(key))
    inProgress.set(key, now())
    deps.onTake?.(now() - since)
    return key
  }

  function releaseTenant(key: string): void {
    const tenant = tenantOf(key)
    const keys = inProgressOfTenant.get(tenant)
    if (keys?.delete(key) && keys.size === 0) inProgressOfTenant.delete(tenant)
  }

  return {
    add,
    next,
    addAfter(key, milliseconds, priority = 'normal') {
      if (!open) return
      if (milliseconds <= 0) return add(key, priority)
      // Low priorities are rounded up to a second, so that ten thousand resyncs do not set ten thousand timers.
      const exact = now() + milliseconds
      delays.set(key, priority === 'low' ? Math.ceil(exact / 1000) * 1000 : exact, priority)
    },
    done(key) {
      if (!inProgress.delete(key)) return
      releaseTenant(key)
      const priority = addedInProgress.get(key)
      addedInProgress.delete(key)
      if (priority !== undefined) add(key, priority)
      onReady()
      if (inProgress.size === 0) for (const resolve of idleWaiters.splice(0)) resolve()
    },
    abandon(key) {
      releaseTenant(key)
      onReady()
    },
    shutDown() {
      open = false
      delays.clear()
    },
    idle: () => (inProgress.size === 0 ? Promise.resolve() : new Promise(resolve => idleWaiters.push(resolve))),
    depth: priority => queues[priority].values().reduce((sum, keys) => sum + keys.size, 0),
    unfinished: () => [...inProgress.values()].map(since => now() - since),
  }
}
