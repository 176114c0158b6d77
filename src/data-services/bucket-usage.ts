// How much is in buckets: each is listed by itself, so a class measures only so many in a minute, whoever asks.
import type { Clock } from '../lib/clock.ts'
import { createKeyedBuckets } from '../lib/limits/keyed-buckets.ts'
import { type BucketUsage as Measured, usageOf } from './adapters/s3/contents.ts'
import { troubleOf } from './server-error.ts'
import type { Servers } from './servers.ts'

/** What is in the bucket of this name; undefined when it is not to be measured now, or the store does not say it. */
export type BucketUsage = (serviceClass: string, bucket: string) => Promise<Measured | undefined>

/** Of one class. Each is a hundred requests at most. */
const perMinute = 60

// Memory (measurements of buckets): name of a ServiceClass → how many of its buckets may be measured now
//   life: the process
//   bound: 10,000 classes
//   freshness: none is needed: one that is forgotten may measure again
//   replicas: leader only
export function createBucketUsage({
  servers,
  clock,
}: {
  readonly servers: Pick<Servers, 'of'>
  readonly clock: Clock
}): BucketUsage {
  const pace = createKeyedBuckets({ burst: perMinute, millisecondsPerToken: 60_000 / perMinute }, clock)
  return async (serviceClass, bucket) => {
    const opened = servers.of(serviceClass, 'bucket')
    if (opened === undefined || pace.take(serviceClass) > 0) return undefined
    try {
      return await usageOf(opened.store, bucket)
    } catch (error) {
      // No size is no reason for a bucket not to be ready.
      troubleOf(error)
      return undefined
    }
  }
}
