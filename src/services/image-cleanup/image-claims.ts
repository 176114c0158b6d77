// Who is about to name an image, and which image is about to be deleted: a branch that takes the image of a preview reads it
// from the registry before any object names it, and the image of a preview is deleted seconds after the preview. Whoever comes
// first wins. In memory of the leader, which is the only process that does either.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'

export type ImageClaims = {
  /**
   * `image` is a reference by digest, with the host. False when its deletion has begun: then it must not be used. Holds for ten
   * minutes.
   */
  readonly claim: (image: string) => boolean
  /** False when it is claimed: then it must not be deleted. Otherwise nobody can claim it for ten minutes. */
  readonly beginDeletion: (image: string) => boolean
}

/** Longer than any reconcile, after which an object names what was claimed. */
const lifeMilliseconds = 600_000
const maxImages = 100_000

// Memory (claims of images): image by digest → until when it may not be deleted, or may not be used
//   life: ten minutes
//   bound: 100,000 of each, the oldest forgotten first
//   freshness: the ten minutes
//   replicas: leader only; the next begins without: both sides are work of one leader
export function createImageClaims(clock: Pick<Clock, 'now'>): ImageClaims {
  const claimed = new BoundedMap<number>(maxImages)
  const deleted = new BoundedMap<number>(maxImages)
  const unlessIn = (others: ReadonlyMap<string, number>, own: BoundedMap<number>, image: string): boolean => {
    const now = clock.now().getTime()
    if ((others.get(image) ?? 0) > now) return false
    own.set(image, now + lifeMilliseconds)
    return true
  }
  return {
    claim: image => unlessIn(deleted, claimed, image),
    beginDeletion: image => unlessIn(claimed, deleted, image),
  }
}
