// Read your own writes: a cache may be a moment behind the status that this process just wrote, and a reconcile that starts from the older
// one would forget what it had decided. Keeps the last written object of each uid until the cache has caught up. One per controller.
import type { KubeObject } from '../api/resource.ts'

export type OwnWrites<T extends KubeObject> = {
  readonly remember: (object: T) => void
  /** The newer of the cached object and our last write of it. */
  readonly latest: (cached: T) => T
  readonly forget: (uid: string) => void
}

/** Versions of one object can be compared as whole numbers (Kubernetes API concepts, "Resource versions", KEP-5504). */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  const [left = '', right = ''] = [a.metadata.resourceVersion, b.metadata.resourceVersion]
  return /^\d+$/.test(left) && /^\d+$/.test(right) && BigInt(left) > BigInt(right)
}

export function createOwnWrites<T extends KubeObject>(): OwnWrites<T> {
  const written = new Map<string, T>()
  return {
    remember(object) {
      if (object.metadata.uid !== undefined) written.set(object.metadata.uid, object)
    },
    latest(cached) {
      const uid = cached.metadata.uid ?? ''
      const own = written.get(uid)
      if (own && isNewer(own, cached)) return own
      written.delete(uid)
      return cached
    },
    forget: uid => void written.delete(uid),
  }
}
