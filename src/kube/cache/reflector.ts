// Keeps a cache equal to the server: list, then watch from that version. It resumes where a watch ended, lists again when the
// version is too old and about once an hour, and waits with full jitter after failures. Only its signal ends it. It never
// interprets objects.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { fullJitter } from '../../lib/backoff.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { KubeClient } from '../client/client.ts'
import { isExpired, isKubeError } from '../client/errors.ts'
import type { WatchEnd } from '../metrics.ts'
import type { CacheScope, ObjectCache } from './object-cache.ts'

export type ReflectorDeps<T extends KubeObject> = {
  readonly client: Pick<KubeClient, 'snapshot' | 'watch'>
  readonly type: ResourceType<T>
  readonly scope: CacheScope
  readonly cache: ObjectCache<T>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /**
   * After about this time a watch is followed by a list instead of being resumed, which finds events that were lost. Default 1
   * h.
   */
  readonly relistMilliseconds?: number
  readonly onList?: () => void
  readonly onWatchEnd?: (reason: WatchEnd) => void
}

export type Reflector = {
  /** Resolves when the signal aborts; never rejects. Call once. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Resolves after the first complete list, or when `run` ends. Never rejects: a list that fails is retried. */
  readonly synced: Promise<void>
  /** The message of the last failure; undefined once the server was observed again. */
  readonly lastError: () => string | undefined
  /**
   * Seconds since the server was last observed (a list, an event, a bookmark, a watch that ended in order); infinite before
   * that.
   */
  readonly silentSeconds: () => number
}

// A server that is unavailable must be found soon after its return; a request that it refuses will not succeed within seconds.
const unavailableBackoff = { baseMilliseconds: 500, capMilliseconds: 3000 }
const refusedBackoff = { baseMilliseconds: 500, capMilliseconds: 30_000 }
// Attempts begin at least this far apart; a watch that ends sooner without an event counts as a failure.
const shortestRoundMilliseconds = 1000

/** A reflector that has not started. */
export function createReflector<T extends KubeObject>(deps: ReflectorDeps<T>): Reflector {
  const { client, type, scope, cache, clock, relistMilliseconds = 3_600_000 } = deps
  const log = deps.log.child({ kind: type.kind, apiVersion: type.apiVersion })
  const first = Promise.withResolvers<void>()
  let lastError: string | undefined
  let lastObserved = Number.NEGATIVE_INFINITY
  let failures = 0
  // Where to resume; undefined: list first.
  let resourceVersion: string | undefined
  let relistAt = Number.POSITIVE_INFINITY

  function observed(version: string): void {
    resourceVersion = version
    lastObserved = elapsed(clock)
    lastError = undefined
    failures = 0
  }

  async function list(signal: AbortSignal): Promise<string> {
    const { items, resourceVersion: version } = await client.snapshot(type, { ...scope, signal, keep: cache.keep })
    cache.replace(items)
    observed(version)
    relistAt = elapsed(clock) + relistMilliseconds
    deps.onList?.()
    first.resolve()
    return version
  }

  async function watch(from: string, signal: AbortSignal): Promise<void> {
    const started = elapsed(clock)
    let events = 0
    // A kind without changes sends nothing until its watch ends. After a failure, request a short watch to learn quickly that the
    // connection works.
    for await (const event of client.watch(type, { ...scope, resourceVersion: from, signal, brief: failures > 0 })) {
      events += 1
      if (event.type === 'DELETED') cache.remove(event.object)
      else if (event.type !== 'BOOKMARK') cache.upsert(event.object)
      observed(event.resourceVersion)
    }
    const now = elapsed(clock)
    if (events === 0 && now - started < shortestRoundMilliseconds) throw new Error('the watch ended at once without an event')
    // The end that we requested shows that the server works, also for a kind without changes, which gets no bookmark.
    observed(resourceVersion ?? from)
    deps.onWatchEnd?.('ended')
    if (now >= relistAt) resourceVersion = undefined
  }

  /** Records a failure and returns the milliseconds to wait before the next attempt. */
  function failed(error: unknown): number {
    const end = endOf(error)
    deps.onWatchEnd?.(end)
    failures += 1
    lastError = messageOf(error)
    // An expired version is not a fault; it only requires a list. A list also skips an event that could not be read twice.
    if (end === 'expired' || (end === 'unreadable' && failures > 1)) resourceVersion = undefined
    log[end === 'refused' || failures > 1 ? 'error' : 'debug']({ error: lastError, failures, end }, 'watch interrupted')
    return end === 'expired' && failures === 1 ? 0 : retryWait(error, failures - 1, deps.random)
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const started = elapsed(clock)
        let wait = 0
        try {
          await watch(resourceVersion ?? (await list(signal)), signal)
        } catch (error) {
          if (signal.aborted) break
          wait = failed(error)
        }
        wait = Math.max(wait, started + shortestRoundMilliseconds - elapsed(clock))
        if (wait > 0) await clock.sleep(wait, signal).catch(() => {})
      }
      first.resolve()
    },
    synced: first.promise,
    lastError: () => lastError,
    silentSeconds: () => (elapsed(clock) - lastObserved) / 1000,
  }
}

/** Full jitter, but not less than the server's Retry-After, which is capped at 30 s. */
function retryWait(error: unknown, attempt: number, random: () => number): number {
  if (!isKubeError(error)) return fullJitter(refusedBackoff, attempt, random)
  const requested = Math.min((error.retryAfterSeconds ?? 0) * 1000, refusedBackoff.capMilliseconds)
  return Math.max(requested, fullJitter(error.retryable ? unavailableBackoff : refusedBackoff, attempt, random))
}

function endOf(error: unknown): WatchEnd {
  if (isExpired(error)) return 'expired'
  if (!isKubeError(error)) return 'unreachable'
  if (error.reason === 'Silent') return 'silent'
  if (error.reason === 'Malformed' || error.reason === 'TooLarge') return 'unreadable'
  return error.status === 0 ? 'unreachable' : 'refused'
}
