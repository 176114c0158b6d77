// The status of a Bucket. Pure.
import { type Bucket, bucketReasons as reasons } from '../../api/services/bucket.ts'
import type { Plan } from '../../api/services/offer.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { BucketUsage } from '../adapters/s3/contents.ts'
import { isNotable, type Outcome, standingOf, storageAfter } from '../standing.ts'

export type BucketStatus = NonNullable<Bucket['status']>

/** What a reconcile came to. What is undefined stays as it was. */
export type Observation = Outcome & {
  /** In the store. */
  readonly name?: string
  readonly owner?: string
  readonly plan?: Plan
  readonly endpoint?: string
  readonly region?: string
  readonly usage?: BucketUsage | undefined
}

const good = { reason: reasons.provisioned, message: 'the bucket exists in the store' }

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(bucket: Bucket, observation: Observation, now: Date): BucketStatus {
  const { metadata, status: before } = bucket
  const generation = metadata.generation ?? 1
  const { name, owner, plan, endpoint, region, usage } = observation
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, standingOf(before?.conditions, observation, good), generation, now),
    ...defined({
      bucket: name ?? before?.bucket,
      externalId: owner ?? before?.externalId,
      plan: plan?.name ?? before?.plan,
      endpoint: endpoint ?? before?.endpoint,
      region: region ?? before?.region,
      usage: usageAfter(before?.usage, usage, now),
    }),
  }
}

function usageAfter(before: BucketStatus['usage'], usage: BucketUsage | undefined, now: Date): BucketStatus['usage'] {
  if (usage === undefined) return before
  const storage = storageAfter(before?.storage, usage.bytes)
  const isSame =
    storage === undefined && !isNotable(before?.objects, usage.objects) && (before?.partial === true) !== usage.complete
  if (before !== undefined && isSame) return before
  return {
    storage: storage ?? before?.storage ?? '1Mi',
    objects: usage.objects,
    ...(usage.complete ? {} : { partial: true }),
    measuredAt: now.toISOString(),
  }
}
