// Keeps the bucket of a Bucket. The only file here that writes. Order: the name and owner into the status, then the bucket:
// after a crash the next run finds what this one made. A bucket is deleted only when the object says so or it is empty, when no
// ServiceBinding uses it any more, and when its tag says that it is this one's.
import { type Bucket, bucket as buckets, bucketReasons as reasons } from '../../api/services/bucket.ts'
import { bucketFinalizer } from '../../api/services/service-finalizers.ts'
import { reconcileWithFinalizer } from '../../controllers/kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../../controllers/kit/status-writer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { ObjectEvent } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import { type BucketSetting, type EnsuredBucket, ensureBucket, removeBucket } from '../adapters/s3/buckets.ts'
import { forgetKept, recordKept } from '../adapters/s3/kept.ts'
import type { Store } from '../adapters/s3/store.ts'
import { dropUser, liveUsers } from '../adapters/s3/users.ts'
import { type BucketUsage, measureMilliseconds } from '../bucket-usage.ts'
import { slotNames } from '../credentials/credentials.ts'
import { principalOf } from '../credentials/principal.ts'
import { inUse, isSettled, keptTooMany, maxKept } from '../offer.ts'
import type { DataServicesParts } from '../parts.ts'
import type { OpenStore } from '../providers/provider.ts'
import { troubleOf } from '../server-error.ts'
import { type Decision, decide, wasComplete } from './decide.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import { nextStatus, type Observation, standOf } from './status.ts'

export type BucketDeps = GatherDeps & {
  readonly cache: Pick<Cache<Bucket>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly status: StatusWriter<Bucket>
  readonly servers: DataServicesParts['servers']
  readonly bucketUsage: BucketUsage
  readonly events: DataServicesParts['events']
  readonly clock: Clock
}

export const fieldManager = 'sekisho.dev/bucket'
/** The bucket is looked at again, and measured: its listing costs requests. */
const lookMilliseconds = measureMilliseconds
const retryMilliseconds = 10_000
/** Until somebody has deleted one that was kept. */
const keptMilliseconds = 60_000
/** Until the controller of ServiceClasses has opened the store, after a start. */
const openMilliseconds = 1_000
/** A step of emptying is some thousands of objects; others have their turn in between. */
const stepMilliseconds = 100

type Kept = Extract<Decision, { kind: 'keep' }>

async function keep(deps: BucketDeps, bucket: Bucket): Promise<Outcome> {
  const write = (on: Bucket, observation: Observation): Promise<Bucket> =>
    deps.status.write(on, nextStatus(on, observation, deps.clock.now()))
  const facts = gather(deps, bucket)
  const decision = decide(facts)
  if (decision.kind === 'refused') {
    await write(bucket, { refusal: decision })
    // A change of the class wakes it, and nothing does when another Bucket leaves its name.
    return decision.reason === reasons.nameTaken ? requeueAfter(retryMilliseconds) : done
  }
  const opened = deps.servers.of(bucket.spec.class, 'bucket')
  if (opened === undefined) return requeueAfter(openMilliseconds)
  const { name, owner, plan } = decision
  const refusal = { reason: reasons.provisioning, message: 'the platform is making the bucket' }
  const begun =
    bucket.status?.bucket === name && bucket.status.externalId === owner
      ? bucket
      : await write(bucket, { name, owner, plan, provisioned: 'False', refusal })
  const observation = await provision(deps, { ...facts, bucket: begun, opened, decision })
  await write(begun, { plan, ...observation })
  return requeueAfter(observation.refusal === undefined ? lookMilliseconds : retryMilliseconds)
}

type Provision = Pick<Facts, 'bucket' | 'bindings' | 'tenant'> & { readonly opened: OpenStore; readonly decision: Kept }

/** Makes it as it is wanted, or says why that was not possible. */
async function provision(
  { bucketUsage, events, clock }: BucketDeps,
  { bucket, bindings, tenant, opened, decision }: Provision,
): Promise<Observation> {
  const { spec, metadata } = bucket
  const { name, owner, plan, mayCreate } = decision
  const { store, endpoint, region } = opened
  try {
    const changed: BucketSetting[] = []
    const { versioning, cors, lifecycle } = spec
    const wanted = { name, owner, versioning, cors, lifecycle }
    const ensured = await ensureBucket(store, wanted, mayCreate, setting => changed.push(setting))
    if (changed.length > 0 && isSettled(bucket)) events.record(bucket, putBack(name, changed))
    const lost = lostRefusal(ensured, name)
    if (lost !== undefined) {
      await endUsers(store, bindings)
      return { provisioned: 'False', refusal: lost }
    }
    const tenantUid = tenant?.metadata.uid ?? ''
    if (ensured === 'found' && !wasComplete(bucket)) await forgetKept(store, { name, owner, tenantUid })
    const usage = await bucketUsage({ serviceClass: spec.class, uid: metadata.uid ?? '', name })
    const stand = standOf(bucket, usage, plan, clock.now())
    return { provisioned: 'True', refusal: undefined, endpoint, region, usage, ...defined({ stand }) }
  } catch (error) {
    return { refusal: refusalOf(error) }
  }
}

/** Somebody changed it in the store: nothing was asked of it since it was as the object says. */
function putBack(name: string, changed: readonly BucketSetting[]): ObjectEvent {
  const message = `somebody changed the ${changed.join(' and the ')} of the bucket ${name} in the store; they are as the Bucket says again`
  return { type: 'Warning', reason: 'SettingsPutBack', message }
}

/** Their policies name a bucket that is not this object's any more: they would open whatever somebody makes under its name. */
async function endUsers(store: Store, bindings: Facts['bindings']): Promise<void> {
  const users = bindings.flatMap(binding => slotNames.map(slot => principalOf(binding, slot)))
  for (const user of await liveUsers(store, users)) await dropUser(store, user)
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
  const used = inUse(facts.bindings)
  if (used !== undefined) return refuse(deps, bucket, used, retryMilliseconds)
  const { bucket: name, externalId: owner } = bucket.status ?? {}
  // Without its class there is no way to the store: a platform admin who removed it by force ends what is there.
  if (name === undefined || owner === undefined || facts.serviceClass === undefined) return undefined
  // What is left of a Tenant that goes is kept in any case: its end must not wait for it.
  const mayLeave = bucket.spec.whenDeleted === 'Keep' && !isStaying(facts)
  const opened = deps.servers.of(bucket.spec.class, 'bucket')
  if (opened === undefined) return mayLeave ? ended(deps, bucket, 'Kept') : requeueAfter(openMilliseconds)
  try {
    return await endInStore(deps, facts, opened.store, { name, owner })
  } catch (error) {
    const refusal = refusalOf(error)
    return mayLeave ? ended(deps, bucket, 'Kept') : refuse(deps, bucket, refusal, retryMilliseconds)
  }
}

async function refuse({ status, clock }: BucketDeps, bucket: Bucket, refusal: Refusal, milliseconds: number): Promise<Outcome> {
  await status.write(bucket, nextStatus(bucket, { refusal }, clock.now()))
  return requeueAfter(milliseconds)
}

/** For the audit log, which the controllers write before the object is gone. */
async function ended({ status }: BucketDeps, bucket: Bucket, become: 'Kept' | 'Deleted'): Promise<undefined> {
  await status.write(bucket, { ...bucket.status, end: become })
}

type Named = { readonly name: string; readonly owner: string }

/** Rejects with what the store's adapter rejects with. */
async function endInStore(deps: BucketDeps, facts: Facts, store: Store, { name, owner }: Named): Promise<Outcome | undefined> {
  const { bucket, tenant } = facts
  const { whenDeleted, emptyWhenDeleted } = bucket.spec
  const isKept = whenDeleted === 'Keep'
  const wanted = { name, owner, empty: !isKept && emptyWhenDeleted, wasComplete: wasComplete(bucket) }
  // Of one whose tag is gone, with `Keep`, it is not asked whether it is empty.
  const removed = await removeBucket(store, wanted).catch(isKept ? fullIfRefused : undefined)
  if (removed === 'gone') return ended(deps, bucket, 'Deleted')
  if (removed === 'more') {
    const emptying = { reason: reasons.emptying, message: 'the platform deletes the objects in the bucket' }
    return refuse(deps, bucket, emptying, stepMilliseconds)
  }
  if (!isStaying(facts)) return ended(deps, bucket, 'Kept')
  if (isKept) {
    const left = { name, owner, tenantUid: tenant?.metadata.uid ?? '' }
    if (await recordKept(store, left, maxKept)) return ended(deps, bucket, 'Kept')
    return refuse(deps, bucket, keptTooMany('bucket'), keptMilliseconds)
  }
  const message = `the bucket ${name} has objects: delete them, set spec.emptyWhenDeleted to true, or spec.whenDeleted to Keep`
  return refuse(deps, bucket, { reason: reasons.bucketNotEmpty, message }, retryMilliseconds)
}

/** What the store refused to delete is there. Rethrows when it did not answer. */
function fullIfRefused(error: unknown): 'full' {
  if (troubleOf(error).kind !== 'refused') throw error
  return 'full'
}

function isStaying({ tenant }: Facts): boolean {
  return tenant !== undefined && tenant.metadata.deletionTimestamp === undefined
}

/** Idempotent. */
export function reconcileBucket(deps: BucketDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: buckets, finalizer: bucketFinalizer, client, cache, status }
  return reconcileWithFinalizer({ ...kind, keep: object => keep(deps, object), end: object => end(deps, object) }, context)
}
