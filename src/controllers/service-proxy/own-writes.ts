// Remembers what this process wrote last: a cache is behind for a moment, in which a burst of changes would make it write
// everything again.
import type { Service } from '../../api/builtin/index.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'

const maxServices = 10_000

/** Bounded: beyond that it may write twice, which changes nothing. */
export type OwnWrites = {
  readonly written: (answer: Service) => void
  /** The newer of the two. */
  readonly latest: (cached: Service) => Service
}

/** Versions of one object can be compared as whole numbers (Kubernetes API concepts, "Resource versions", KEP-5504). */
function versionOf({ metadata }: Service): bigint {
  return /^\d+$/.test(metadata.resourceVersion ?? '') ? BigInt(metadata.resourceVersion ?? '') : 0n
}

// Memory (own labels on Services): uid of a Service → this process’s last write of it
//   life: until the cache shows it
//   bound: 10,000, the oldest forgotten first
//   freshness: the watch event
//   replicas: leader only; its client refuses writes of a deposed one
export function createOwnWrites(): OwnWrites {
  const byUid = new BoundedMap<Service>(maxServices)
  return {
    written: answer => byUid.set(answer.metadata.uid ?? '', answer),
    latest(cached) {
      const { uid = '' } = cached.metadata
      const own = byUid.get(uid)
      if (own !== undefined && versionOf(own) > versionOf(cached)) return own
      byUid.delete(uid)
      return cached
    },
  }
}
