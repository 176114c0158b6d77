// Keeps a store equal to the server: list, then watch from there, for ever. Resumes where a connection ended, lists again when the
// version is too old and once in a long while anyway, waits with full jitter after failures, and stops only by its signal.
// It decides nothing about objects.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { fullJitter } from '../../lib/backoff.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { KubeClient } from '../client/client.ts'
import { isExpired, isKubeError } from '../client/errors.ts'
import type { CacheScope, ObjectStore } from './object-cache.ts'

/** Why a watch ended: as agreed, version too old, no end in time, no line to the server, refused by it, or unreadable. */
export type WatchEnd = 'ended' | 'expired' | 'silent' | 'unreachable' | 'refused' | 'unreadable'

export type ReflectorDeps<T extends KubeObject> = {
  readonly client: Pick<KubeClient, 'snapshot' | 'watch'>
  readonly type: ResourceType<T>
  readonly scope: CacheScope
  readonly store: ObjectStore<T>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** After about this long a watch is not resumed but begun with a list: what it never told is found then. Default 1 h. */
  readonly relistMilliseconds?: number
  readonly onList?: () => void
  readonly onWatchEnd?: (reason: WatchEnd) => void
}

export type Reflector = {
  /** Resolves when the signal aborts; never rejects. Call once. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Resolves after the first complete list, or when `run` ends. Never rejects: a kind that cannot be listed is tried again and again. */
  readonly synced: Promise<void>
  /** What the last attempt failed with; undefined while things go well. */
  readonly problem: () => string | undefined
  /** Seconds since the server was last heard (a list, an event, a bookmark, an orderly end); infinite before the first time. */
  readonly silentSeconds: () => number
}

// A server that is away must be found soon after its return; what it refuses is not going to change in seconds.
const awayBackoff = { baseMilliseconds: 500, capMilliseconds: 3000 }
const refusedBackoff = { baseMilliseconds: 500, capMilliseconds: 30_000 }
// Attempts begin at least so far apart; a watch that ends sooner without a word counts as a failure.
const shortestRoundMilliseconds = 1000

export function createReflector<T extends KubeObject>(deps: ReflectorDeps<T>): Reflector {
  const { client, type, scope, store, clock, relistMilliseconds = 3_600_000 } = deps
  const log = deps.log.child({ kind: type.kind, apiVersion: type.apiVersion })
  const first = Promise.withResolvers<void>()
  let problem: string | undefined
  let lastHeard = Number.NEGATIVE_INFINITY
  let failures = 0
  // Where to continue; undefined: list first.
  let resourceVersion: string | undefined
  let relistAt = Number.POSITIVE_INFINITY

  function heard(version: string): void {
    resourceVersion = version
    lastHeard = elapsed(clock)
    problem = undefined
    failures = 0
  }

  async function list(signal: AbortSignal): Promise<string> {
    const { items, resourceVersion: version } = await client.snapshot(type, { ...scope, signal })
    store.replace(items)
    heard(version)
    relistAt = elapsed(clock) + relistMilliseconds
    deps.onList?.()
    first.resolve()
    return version
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    const started = elapsed(clock)
    let events = 0
    // A quiet kind is not heard before its watch ends: after a failure that shall be soon.
    for await (const event of client.watch(type, { ...scope, resourceVersion: from, signal, brief: failures > 0 })) {
      events += 1
      if (event.type === 'DELETED') store.remove(event.object)
      else if (event.type !== 'BOOKMARK') store.upsert(event.object)
      heard(event.resourceVersion)
    }
    const now = elapsed(clock)
    if (events === 0 && now - started < shortestRoundMilliseconds) throw new Error('the watch ended at once without an event')
    // The end that we asked for is a sign of life too: a kind where nothing happens gets no bookmark.
    heard(resourceVersion ?? from)
    deps.onWatchEnd?.('ended')
    if (now >= relistAt) resourceVersion = undefined
  }

  /** Milliseconds to wait before the next attempt. */
  function failed(error: unknown): number {
    const end = endOf(error)
    deps.onWatchEnd?.(end)
    failures += 1
    problem = messageOf(error)
    // Too old to continue from: nothing is wrong, only a list is due. An event that cannot be read twice is passed over by a list.
    if (end === 'expired' || (end === 'unreadable' && failures > 1)) resourceVersion = undefined
    log[end === 'refused' || failures > 1 ? 'error' : 'debug']({ problem, failures, end }, 'watch interrupted')
    const asked = isKubeError(error) ? Math.min((error.retryAfterSeconds ?? 0) * 1000, refusedBackoff.capMilliseconds) : 0
    const backoff = isKubeError(error) && error.retryable ? awayBackoff : refusedBackoff
    return end === 'expired' && failures === 1 ? 0 : Math.max(asked, fullJitter(backoff, failures - 1, deps.random))
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const started = elapsed(clock)
        let wait = 0
        try {
          await follow(resourceVersion ?? (await list(signal)), signal)
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
    problem: () => problem,
    silentSeconds: () => (elapsed(clock) - lastHeard) / 1000,
  }
}

function endOf(error: unknown): WatchEnd {
  if (isExpired(error)) return 'expired'
  if (!isKubeError(error)) return 'unreachable'
  if (error.reason === 'Silent') return 'silent'
  if (error.reason === 'Malformed' || error.reason === 'TooLarge') return 'unreadable'
  return error.status === 0 ? 'unreachable' : 'refused'
}
