// The queue of keys between changes and workers. A key is never in two hands at once, is never lost, and waits at most once: what is
// added while its work runs makes it run once more afterwards. Urgent keys go before the ones of a first list or a resync; within a
// priority tenants take turns, and within a tenant the first comes first. It holds no objects and decides no delays.
import { type Clock, elapsed } from '../../lib/clock.ts'
import { createDelays } from './delays.ts'

export type Priority = 'normal' | 'low'
const priorities = ['normal', 'low'] as const

export type WorkQueueDeps = {
  readonly clock: Clock
  /** Whose key it is; keys of one tenant never make another's wait for all of them. Default: all are one tenant's. */
  readonly tenantOf?: (key: string) => string
  /** So many keys of one tenant are in hands at most. */
  readonly perTenant?: number
  /** Called in the turn in which `next` may have something, perhaps in the middle of what somebody else does: only take note. */
  readonly onReady?: () => void
  /** Hears how long each key waited, in milliseconds, as it is taken. */
  readonly onTake?: (waitedMilliseconds: number) => void
  readonly onAdd?: () => void
}

export type WorkQueue = {
  /** `low` never lowers a key that already waits as `normal`. */
  readonly add: (key: string, priority?: Priority) => void
  /** Adds later; of several delays of one key the earliest counts. */
  readonly addAfter: (key: string, milliseconds: number, priority?: Priority) => void
  /** Takes the key whose turn it is, if there is one. Every key taken must be given to `done`. */
  readonly next: () => string | undefined
  readonly done: (key: string) => void
  /** The key's work goes on without a worker: it stays taken, but its tenant may use another hand. `done` still follows. */
  readonly abandon: (key: string) => void
  /** There is no next key from now on, delays are dropped, additions ignored. */
  readonly shutDown: () => void
  /** Resolves when no key is in work. */
  readonly idle: () => Promise<void>
  /** Keys that wait for a worker, delayed ones not counted. */
  readonly depth: (priority: Priority) => number
  /** For each key in work, how long it has been, in milliseconds. */
  readonly unfinished: () => readonly number[]
}

/** Tenant → key → since when it waits. Tenants in the order of their turns, keys in the order they came. */
type Line = Map<string, Map<string, number>>

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const { clock, tenantOf = () => '', perTenant = Number.POSITIVE_INFINITY, onReady = () => {} } = deps
  const lines: Record<Priority, Line> = { normal: new Map(), low: new Map() }
  const inWork = new Map<string, number>()
  const hands = new Map<string, Set<string>>()
  const again = new Map<string, Priority>()
  const delays = createDelays(clock, add)
  const idleWaiters: (() => void)[] = []
  let open = true
  const now = (): number => elapsed(clock)

  /** Takes a key out of its line; answers since when it waited there. */
  function leave(line: Line, tenant: string, key: string): number | undefined {
    const keys = line.get(tenant)
    const since = keys?.get(key)
    if (keys?.delete(key) && keys.size === 0) line.delete(tenant)
    return since
  }

  function add(key: string, priority: Priority = 'normal'): void {
    if (!open) return
    deps.onAdd?.()
    if (inWork.has(key)) {
      if (again.get(key) !== 'normal') again.set(key, priority)
      return
    }
    const tenant = tenantOf(key)
    if (lines.normal.get(tenant)?.has(key) || lines[priority].get(tenant)?.has(key)) return
    const since = leave(lines.low, tenant, key) ?? now()
    const keys = lines[priority].get(tenant) ?? new Map()
    lines[priority].set(tenant, keys.set(key, since))
    onReady()
  }

  function next(): string | undefined {
    for (const priority of open ? priorities : []) {
      const line = lines[priority]
      for (const [tenant, keys] of line) {
        const [key] = keys.keys()
        const busy = hands.get(tenant) ?? new Set()
        if (key === undefined || busy.size >= perTenant) continue
        const since = leave(line, tenant, key) ?? now()
        // Its next turn comes after everybody else's.
        if (line.delete(tenant)) line.set(tenant, keys)
        hands.set(tenant, busy.add(key))
        inWork.set(key, now())
        deps.onTake?.(now() - since)
        return key
      }
    }
    return undefined
  }

  function freeHand(key: string): void {
    const tenant = tenantOf(key)
    const busy = hands.get(tenant)
    if (busy?.delete(key) && busy.size === 0) hands.delete(tenant)
  }

  return {
    add,
    next,
    addAfter(key, milliseconds, priority = 'normal') {
      if (!open) return
      if (milliseconds <= 0) return add(key, priority)
      // Resyncs of ten thousand keys ring once a second together, not ten thousand times.
      const exact = now() + milliseconds
      delays.set(key, priority === 'low' ? Math.ceil(exact / 1000) * 1000 : exact, priority)
    },
    done(key) {
      if (!inWork.delete(key)) return
      freeHand(key)
      const priority = again.get(key)
      again.delete(key)
      if (priority !== undefined) add(key, priority)
      onReady()
      if (inWork.size === 0) for (const resolve of idleWaiters.splice(0)) resolve()
    },
    abandon(key) {
      freeHand(key)
      onReady()
    },
    shutDown() {
      open = false
      delays.clear()
    },
    idle: () => (inWork.size === 0 ? Promise.resolve() : new Promise(resolve => idleWaiters.push(resolve))),
    depth: priority => lines[priority].values().reduce((sum, keys) => sum + keys.size, 0),
    unfinished: () => [...inWork.values()].map(since => now() - since),
  }
}
