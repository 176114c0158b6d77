// Keeps the bucket of a Bucket. The only file here that writes. Order: the name and owner into the status, then the bucket:
// after a crash the next run finds what this one made. A bucket is deleted only when the object says so, when no ServiceBinding
// uses it any more, and when its tag says that it is this one's.
import { type Bucket, bucket as buckets, bucketReasons as reasons } from '../../api/services/bucket.ts'
import { reconcileWithFinalizer } from '../../controllers/kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../../controllers/kit/status-writer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Refusal } from '../../policy/check.ts'
import { type EnsuredBucket, ensureBucket, removeBucket } from '../adapters/s3/buckets.ts'
import type { BucketUsage } from '../bucket-usage.ts'
import { inUse } from '../offer.ts'
import type { DataServicesParts } from '../parts.ts'
import type { OpenStore } from '../providers/provider.ts'
import { troubleOf } from '../server-error.ts'
import { type Decision, decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { nextStatus, type Observation } from './status.ts'

export type BucketDeps = GatherDeps & {
  readonly cache: Pick<Cache<Bucket>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly status: StatusWriter<Bucket>
  readonly servers: DataServicesParts['servers']
  readonly bucketUsage: BucketUsage
  readonly clock: Clock
}

export const fieldManager = 'sekisho.dev/bucket'
export const finalizer = 'sekisho.dev/bucket'
/** The bucket is looked at again, and measured: its listing costs requests. */
const lookMilliseconds = 5 * 60_000
const retryMilliseconds = 10_000
/** Until the controller of ServiceClasses has opened the store, after a start. */
const openMilliseconds = 1_000
/** A step of emptying is some thousands of objects; others have their turn in between. */
const stepMilliseconds = 100

type Kept = Extract<Decision, { kind: 'keep' }>

async function keep(deps: BucketDeps, bucket: Bucket): Promise<Outcome> {
  const write = (on: Bucket, observation: Observation): Promise<Bucket> =>
    deps.status.write(on, nextStatus(on, observation, deps.clock.now()))
  const decision = decide(gather(deps, bucket))
  if (decision.kind === 'refused') {
    // A change of the class wakes it.
    await write(bucket, { refusal: decision })
    return done
  }
  const opened = deps.servers.of(bucket.spec.class, 'bucket')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  const { name, owner, plan } = decision
  const refusal = { reason: reasons.provisioning, message: 'the platform is making the bucket' }
  const begun =
    bucket.status?.bucket === name && bucket.status.externalId === owner
      ? bucket
      : await write(bucket, { name, owner, plan, provisioned: 'False', refusal })
  const observation = await provision(deps, { bucket: begun, opened, decision })
  await write(begun, { plan, ...observation })
  return requeueAfter(observation.refusal === undefined ? lookMilliseconds : retryMilliseconds)
}

type Provision = { readonly bucket: Bucket; readonly opened: OpenStore; readonly decision: Kept }

/** Makes it as it is wanted, or says why that was not possible. */
async function provision({ bucketUsage }: BucketDeps, { bucket: { spec }, opened, decision }: Provision): Promise<Observation> {
  const { name, owner, mayCreate } = decision
  const { store, endpoint, region } = opened
  try {
    const ensured = await ensureBucket(store, { name, owner, versioning: spec.versioning, cors: spec.cors }, mayCreate)
    const lost = lostRefusal(ensured, name)
    if (lost !== undefined) return { provisioned: 'False', refusal: lost }
    const usage = await bucketUsage(spec.class, name)
    return { provisioned: 'True', refusal: undefined, endpoint, region, usage }
  } catch (error) {
    return { refusal: refusalOf(error) }
  }
}

function refusalOf(error: unknown): Refusal {
  const { kind, message } = troubleOf(error)
  return { reason: kind === 'refused' ? reasons.refusedByServer : reasons.serverUnreachable, message }
}

function lostRefusal(ensured: EnsuredBucket, name: string): Refusal | undefined {
  if (ensured === 'missing')
    return { reason: reasons.bucketMissing, message: `the store does not have the bucket ${name} of this object any more` }
  if (ensured === 'foreign')
    return {
      reason: reasons.nameTaken,
      message: `the store has a bucket ${name} that is not of this object: choose another name`,
    }
  return undefined
}

async function end(deps: BucketDeps, bucket: Bucket): Promise<Outcome | undefined> {
  const facts = gather(deps, bucket)
  const refuse = async (refusal: Refusal, milliseconds: number): Promise<Outcome> => {
    await deps.status.write(bucket, nextStatus(bucket, { refusal }, deps.clock.now()))
    return requeueAfter(milliseconds)
  }
  const used = inUse(facts.bindings)
  if (used !== undefined) return refuse(used, retryMilliseconds)
  const { bucket: name, externalId: owner } = bucket.status ?? {}
  const { whenDeleted, emptyWhenDeleted: empty } = bucket.spec
  // Without its class there is no way to the store: a platform admin who removed it by force ends what is there.
  if (name === undefined || owner === undefined || whenDeleted === 'Keep' || facts.serviceClass === undefined) return undefined
  const opened = deps.servers.of(bucket.spec.class, 'bucket')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  try {
    const removed = await removeBucket(opened.store, { name, owner, empty })
    if (removed === 'gone') return undefined
    if (removed === 'more')
      return await refuse(
        { reason: reasons.emptying, message: 'the platform deletes the objects in the bucket' },
        stepMilliseconds,
      )
    const message = `the bucket ${name} has objects: delete them, set spec.emptyWhenDeleted to true, or spec.whenDeleted to Keep`
    return await refuse({ reason: reasons.bucketNotEmpty, message }, retryMilliseconds)
  } catch (error) {
    return refuse(refusalOf(error), retryMilliseconds)
  }
}

/** Idempotent. */
export function reconcileBucket(deps: BucketDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: buckets, finalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
