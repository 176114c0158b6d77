// The status of a Bucket. Pure.
import { type Bucket, bucketReasons as reasons } from '../../api/services/bucket.ts'
import type { Plan } from '../../api/services/offer.ts'
import { findCondition, mergeConditions } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { BucketUsage } from '../adapters/s3/contents.ts'
import { type PlanStand, planConditions, planStand, standBefore } from '../plan.ts'
import { isNotable, isoTimeOf, type Outcome, storageAfter } from '../standing.ts'

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
  /** How it stands to its plan. */
  readonly stand?: PlanStand
}

const good = { kind: 'Bucket', reason: reasons.provisioned, message: 'the bucket exists in the store' } as const

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(bucket: Bucket, observation: Observation, now: Date): BucketStatus {
  const { metadata, status: before } = bucket
  const generation = metadata.generation ?? 1
  const { name, owner, plan, endpoint, region } = observation
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, planConditions(before?.conditions, observation, good), generation, now),
    ...defined({
      bucket: name ?? before?.bucket,
      externalId: owner ?? before?.externalId,
      plan: plan?.name ?? before?.plan,
      endpoint: endpoint ?? before?.endpoint,
      region: region ?? before?.region,
      usage: usageAfter(before?.usage, observation, now),
    }),
  }
}

/** Undefined while it was never measured whole. Of a bucket with more objects than are counted only too much is known. */
export function standOf(bucket: Bucket, usage: BucketUsage | undefined, plan: Plan, now: Date): PlanStand | undefined {
  const before = standBefore(bucket)
  const stand = (bytes: number | undefined) => planStand({ kind: 'Bucket', before, bytes, plan, now })
  const found = usage && stand(usage.bytes)
  if (usage !== undefined && (usage.complete || found?.standing === 'over')) return found
  return findCondition(bucket.status?.conditions, 'WithinPlan') && stand(undefined)
}

function usageAfter(
  before: BucketStatus['usage'],
  { usage, stand }: Pick<Observation, 'usage' | 'stand'>,
  now: Date,
): BucketStatus['usage'] {
  if (usage === undefined) return before
  const overSince = stand?.overSince?.toISOString()
  const storage = storageAfter(before?.storage, usage.bytes)
  const isSame =
    storage === undefined &&
    !isNotable(before?.objects, usage.objects) &&
    (before?.partial === true) !== usage.complete &&
    overSince === isoTimeOf(before?.overSince)
  if (before !== undefined && isSame) return before
  return {
    storage: storage ?? before?.storage ?? '1Mi',
    objects: usage.objects,
    ...(usage.complete ? {} : { partial: true }),
    measuredAt: now.toISOString(),
    ...defined({ overSince }),
  }
}
