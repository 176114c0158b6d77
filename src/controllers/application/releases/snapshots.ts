// What older releases recorded, read from the API server when one of them runs: the caches hold Releases without it. A snapshot
// never changes, so the ones used last are kept, by uid. Only reads.
import { type Release, type ReleaseHeader, type ReleaseSnapshot, release as releases } from '../../../api/apps/release.ts'
import { keyOf } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'

/** Reads snapshots. */
export type Snapshots = {
  /** Undefined when the API server does not have this Release any more. */
  readonly of: (release: ReleaseHeader) => Promise<ReleaseSnapshot | undefined>
}

const maxKept = 256

// Memory (snapshots of Releases): uid of a Release → what it recorded, for releases that run again
//   life: until 256 others were used
//   bound: 256, the one used longest ago forgotten first
//   freshness: none is needed: a Release is immutable
//   replicas: leader only; the next reads them
/** Nothing is kept yet. */
export function createSnapshots(client: Pick<KubeClient, 'get'>): Snapshots {
  const kept = new BoundedMap<ReleaseSnapshot>(maxKept)
  return {
    async of(release) {
      const { uid = '' } = release.metadata
      const held = kept.get(uid)
      const live: Release | undefined = held ? undefined : await client.get(releases, keyOf(release))
      const snapshot = held ?? (live?.metadata.uid === uid ? live.spec.snapshot : undefined)
      if (snapshot) kept.set(uid, snapshot)
      return snapshot
    },
  }
}
