// The shared caches: one object cache and one reflector per kind and scope, for all readers. They start together; a cache
// requested after the start begins at once. It runs no controllers.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { endsWithin } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { KubeMetrics } from '../metrics.ts'
import { type CacheScope, type ChangeSource, createObjectCache, type ObjectCache } from './object-cache.ts'
import { createReflector, type Reflector, type ReflectorDeps } from './reflector.ts'

export type CachesDeps = Pick<ReflectorDeps<KubeObject>, 'client' | 'clock' | 'random' | 'log' | 'relistMilliseconds'> & {
  readonly metrics?: KubeMetrics
}

/** `subscribe` survives listeners that throw: the error is logged. */
export type Caches = ChangeSource & {
  /** The same cache for the same kind and scope. */
  readonly of: <T extends KubeObject>(type: ResourceType<T>, scope?: CacheScope) => ObjectCache<T>
  readonly start: () => void
  /**
   * Resolves when all first lists are complete, or on `stop`. Rejects with `unavailable`, which names the missing kinds and the
   * reasons.
   */
  readonly synced: (withinMilliseconds: number) => Promise<void>
  readonly allSynced: () => boolean
  readonly stop: () => Promise<void>
}

const maxContent = 64 * 1024

type Entry = { readonly cache: ObjectCache<KubeObject>; readonly reflector: Reflector }

// Memory (caches of objects): uid-aware key → frozen object, one cache of each kind and scope
//   life: while the object exists and is watched
//   bound: what is watched; 16 KB of metadata and 64 KB of content of each object of a tenant (src/api/kept-object.ts)
//   freshness: watch events; a list again on 410 and every hour
//   replicas: each watches, and both are warm; what is delivered or minted is read from the API server
/** No caches yet; nothing runs before `start`. */
export function createCaches(deps: CachesDeps): Caches {
  const { clock, log } = deps
  const entries = new Map<string, Entry>()
  const stopping = new AbortController()
  const running: Promise<void>[] = []
  let started = false

  function entryOf<T extends KubeObject>(type: ResourceType<T>, scope: CacheScope): ObjectCache<T> {
    const { namespace, labelSelector = '', fieldSelector = '' } = scope
    const name = [type.apiVersion, type.plural, namespace ?? '*', labelSelector, fieldSelector].join(' ').trimEnd()
    const known = entries.get(name)
    // The name contains the kind, so the cache under it has the kind's type.
    if (known !== undefined) return known.cache as unknown as ObjectCache<T>
    const cache = createObjectCache<T>(namespace === undefined ? maxContent : undefined)
    const watched = deps.metrics?.watch(name, { objects: cache.size, silentSeconds: () => reflector.silentSeconds() })
    const reflector: Reflector = createReflector<T>({ ...deps, ...watched, type, scope, cache })
    entries.set(name, { cache: cache as unknown as ObjectCache<KubeObject>, reflector })
    if (started) running.push(reflector.run(stopping.signal))
    return cache
  }

  const allSynced = (): boolean => [...entries.values()].every(({ cache }) => cache.synced())

  return {
    allSynced,
    of: (type, scope = {}) => entryOf(type, scope),
    subscribe(type, scope, listener) {
      entryOf(type, scope).subscribe(change => {
        try {
          listener(change)
        } catch (error) {
          // A handler that throws must not stop the cache for other listeners; the resync covers the missed key.
          log.error({ error, kind: type.kind }, 'watch handler failed')
        }
      })
    },
    start() {
      started = true
      for (const { reflector } of entries.values()) running.push(reflector.run(stopping.signal))
    },
    async synced(withinMilliseconds) {
      await endsWithin(clock, withinMilliseconds, Promise.all([...entries.values()].map(({ reflector }) => reflector.synced)))
      if (stopping.signal.aborted || allSynced()) return
      const missing = [...entries].filter(([, { cache }]) => !cache.synced())
      const details = missing.map(([name, { reflector }]) => `${name}: ${reflector.lastError() ?? 'no response yet'}`)
      throw new AppError('unavailable', `failed to list in time: ${details.join('; ')}`)
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
