// Whether a Bucket is to be made, and as what. Pure.
import { type Bucket, bucketReasons as reasons } from '../../api/services/bucket.ts'
import type { Plan } from '../../api/services/offer.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { Refusal } from '../../policy/check.ts'
import { bucketId } from '../adapters/s3/names.ts'
import { offerTo, unreadiness } from '../offer.ts'
import type { Facts } from './gather.ts'

export type Decision =
  | ({ readonly kind: 'refused' } & Refusal)
  | {
      readonly kind: 'keep'
      /** In the store. */
      readonly name: string
      /** What its tag says of whose it is. */
      readonly owner: string
      readonly plan: Plan
      /** False when it was complete once: what the store lost is never replaced by something empty. */
      readonly mayCreate: boolean
    }

/** The first reason why it cannot be, or what it is to be. */
export function decide({ bucket, tenant, serviceClass, namesakes }: Facts): Decision {
  const offer = offerTo({ service: bucket, type: 'bucket', tenant, serviceClass })
  if (offer.kind === 'refused') return offer
  const refusal =
    nameProblem(bucket, offer.serviceClass) ??
    heldName(bucket, offer.serviceClass, namesakes) ??
    unreadiness(offer.serviceClass) ??
    lack(bucket, offer.serviceClass)
  if (refusal !== undefined) return { kind: 'refused', ...refusal }
  const { spec, metadata, status } = bucket
  const { namespace = '', name } = metadata
  // Those that it has, whatever became of the Tenant since: others would be empty.
  const owner = status?.externalId ?? bucketId({ tenantUid: offer.tenant.metadata.uid ?? '', namespace, name })
  return {
    kind: 'keep',
    name: status?.bucket ?? spec.name ?? owner,
    owner,
    plan: offer.plan,
    mayCreate: !wasComplete(bucket),
  }
}

/** A name that it got while the class allowed it stays. */
function nameProblem(bucket: Bucket, { metadata, spec }: ServiceClass): Refusal | undefined {
  if (bucket.spec.name === undefined || spec.ownNames || wasComplete(bucket)) return undefined
  return {
    reason: reasons.nameNotAllowed,
    message: `spec.name: ServiceClass ${metadata.name} gives the names of buckets itself: delete this Bucket and create it without`,
  }
}

/** Keys of the one that had the name may still live: they would open the new bucket. */
function heldName(bucket: Bucket, { metadata, spec }: ServiceClass, namesakes: Facts['namesakes']): Refusal | undefined {
  const isSameStore = (other: Bucket): boolean =>
    other.spec.class === metadata.name || other.status?.endpoint === spec.provider?.s3?.endpoint
  if (wasComplete(bucket) || !namesakes.some(other => wasComplete(other) && isSameStore(other))) return undefined
  return {
    reason: reasons.nameTaken,
    message: 'spec.name: another Bucket has, or had, a bucket of this name: choose another name',
  }
}

/** What the spec asks for and the store does not have. */
function lack({ spec }: Bucket, { metadata, status }: ServiceClass): Refusal | undefined {
  const { versioning = false, cors = false, lifecycle = false } = status?.capabilities ?? {}
  const rules = spec.lifecycle ?? []
  const needsVersions = rules.some(({ expireFormerVersionsAfterDays }) => expireFormerVersionsAfterDays !== undefined)
  const asked = [
    ...(spec.versioning === true && !versioning ? ['versioning'] : []),
    ...((spec.cors ?? []).length > 0 && !cors ? ['cors'] : []),
    ...(rules.length > 0 && !(lifecycle && (versioning || !needsVersions)) ? ['lifecycle'] : []),
  ]
  if (asked.length === 0) return undefined
  return {
    reason: reasons.capabilityMissing,
    message: `spec.${asked.join(', spec.')}: the store of ServiceClass ${metadata.name} does not have it: leave it out`,
  }
}

/** Whether it existed as it was wanted, once: no refusal since takes the endpoint away. */
export function wasComplete({ status }: Bucket): boolean {
  return status?.endpoint !== undefined
}
