// The shared local copies: one store and one reflector per kind and scope, whoever asks. Started together, or at once when asked
// for later. Owns no controller.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { endsWithin } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { KubeMetrics } from '../metrics.ts'
import { type CacheScope, type ChangeSource, createObjectStore, type ObjectStore } from './object-cache.ts'
import { createReflector, type Reflector, type ReflectorDeps } from './reflector.ts'

export type CachesDeps = Pick<ReflectorDeps<KubeObject>, 'client' | 'clock' | 'random' | 'log' | 'relistMilliseconds'> & {
  readonly metrics?: KubeMetrics
}

export type Caches = ChangeSource & {
  readonly of: <T extends KubeObject>(type: ResourceType<T>, scope?: CacheScope) => ObjectStore<T>
  readonly start: () => void
  /** Resolves when all first lists are in. Rejects with `unavailable`, naming what is missing and why; a stop ends the wait. */
  readonly synced: (withinMilliseconds: number) => Promise<void>
  readonly allSynced: () => boolean
  readonly stop: () => Promise<void>
}

type Entry = { readonly store: ObjectStore<KubeObject>; readonly reflector: Reflector }

export function createCaches(deps: CachesDeps): Caches {
  const { clock, log } = deps
  const entries = new Map<string, Entry>()
  const stopping = new AbortController()
  const running: Promise<void>[] = []
  let started = false

  function entryOf<T extends KubeObject>(type: ResourceType<T>, scope: CacheScope): ObjectStore<T> {
    const name = [type.apiVersion, type.plural, scope.namespace ?? '*', scope.labelSelector ?? ''].join(' ').trimEnd()
    const known = entries.get(name)
    // The name holds the kind, so what is held under it has the kind's type.
    if (known !== undefined) return known.store as unknown as ObjectStore<T>
    const store = createObjectStore<T>()
    const watched = deps.metrics?.watch(name, { objects: store.size, silentSeconds: () => reflector.silentSeconds() })
    const reflector = createReflector<T>({
      ...deps,
      type,
      scope,
      store,
      onList: () => watched?.listed(),
      onWatchEnd: end => watched?.ended(end),
    })
    entries.set(name, { store: store as unknown as ObjectStore<KubeObject>, reflector })
    if (started) running.push(reflector.run(stopping.signal))
    return store
  }

  const allSynced = (): boolean => [...entries.values()].every(({ store }) => store.synced())

  return {
    allSynced,
    of: (type, scope = {}) => entryOf(type, scope),
    subscribe(type, scope, listener) {
      entryOf(type, scope).subscribe(change => {
        try {
          listener(change)
        } catch (error) {
          // A mapping that throws must not stop the cache for everybody; the resync makes up for the key that was missed.
          log.error({ error, kind: type.kind }, 'a watch handler threw')
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
      const missing = [...entries].filter(([, { store }]) => !store.synced())
      const words = missing.map(([name, { reflector }]) => `${name}: ${reflector.problem() ?? 'no answer yet'}`)
      throw new AppError('unavailable', `these kinds could not be listed in time: ${words.join('; ')}`)
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
