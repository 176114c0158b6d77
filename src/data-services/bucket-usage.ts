// How much is in buckets: each is listed by itself, so each is measured only so often, and a class measures only so many in a
// minute, whoever asks.
import { BoundedMap } from '../lib/bounded-map.ts'
import { type Clock, elapsed } from '../lib/clock.ts'
import { createKeyedBuckets } from '../lib/limits/keyed-buckets.ts'
import { type BucketUsage as Measured, usageOf } from './adapters/s3/contents.ts'
import { troubleOf } from './server-error.ts'
import type { Servers } from './servers.ts'

/** What is in the bucket of this name in the store; undefined when it is not to be measured now, or the store does not say it. */
export type BucketUsage = (bucket: MeasuredBucket) => Promise<Measured | undefined>
export type MeasuredBucket = { readonly serviceClass: string; readonly uid: string; readonly name: string }

/** A Bucket that changes all the time, or that is looked at for another reason, is measured no more often. */
export const measureMilliseconds = 5 * 60_000
const maxBuckets = 10_000

/** Of one class. Each is a hundred requests at most. */
const perMinute = 60

// Memory (measurements of buckets): name of a ServiceClass → how many of its buckets may be measured now
//   life: the process
//   bound: 10,000 classes
//   freshness: none is needed: one that is forgotten may measure again
//   replicas: leader only
// Memory (times of measurements of buckets): uid of a Bucket → when it was measured last
//   life: the process
//   bound: 10,000 Buckets
//   freshness: none is needed: one that is forgotten may be measured again
//   replicas: leader only
export function createBucketUsage({
  servers,
  clock,
}: {
  readonly servers: Pick<Servers, 'of'>
  readonly clock: Clock
}): BucketUsage {
  const pace = createKeyedBuckets({ burst: perMinute, millisecondsPerToken: 60_000 / perMinute }, clock)
  const measuredAt = new BoundedMap<number>(maxBuckets)
  return async ({ serviceClass, uid, name }) => {
    const opened = servers.of(serviceClass, 'bucket')
    const [now, last] = [elapsed(clock), measuredAt.get(uid)]
    if (opened === undefined || (last !== undefined && now - last < measureMilliseconds)) return undefined
    if (pace.take(serviceClass) > 0) return undefined
    measuredAt.set(uid, now)
    try {
      return await usageOf(opened.store, name)
    } catch (error) {
      // No size is no reason for a bucket not to be ready.
      troubleOf(error)
      return undefined
    }
  }
}
