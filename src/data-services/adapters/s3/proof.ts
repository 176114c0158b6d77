// What a new key can do, and what it cannot: tried with the key itself, as its tenant would try. It judges nothing.
import { DeleteBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { isAppError } from '../../../lib/errors.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { codeOf } from '../../../object-store/store-error.ts'
import { type BucketProofFacts, mayDo, type Within } from '../../proofs/judge-bucket.ts'
import { attemptsNever, attemptsOutside, attemptsWithin, besideOf, outcomesOf, type Scene } from './attempts.ts'
import { namesByPath, outcomesByPath } from './by-path.ts'
import { deleteObjects } from './contents.ts'
import { probeName, proofName } from './names.ts'
import type { BucketAccess } from './policy.ts'
import type { Store, StoreKey } from './store.ts'
import { ensureProbe, probeObject } from './store-check.ts'
import { dropKey, dropUser, keysOf, type WantedUser } from './users.ts'

/** AWS tells a new key and a new policy to all its parts within seconds. */
const patience = 15_000
const pause = 500

/**
 * Waits until the store knows the key, for a while, then tries all that it must not do. Leaves nothing behind, whatever was let
 * through; after a crash the next call for this user ends what is left. Rejects with a StoreError when the store is away.
 */
export async function observe(
  store: Store,
  key: StoreKey,
  wanted: WantedUser,
  patienceMilliseconds = patience,
): Promise<BucketProofFacts> {
  const { bucket, prefix = '', user } = wanted
  const object = proofName(user)
  const other = { bucket: await ensureProbe(store), object: probeObject }
  return store.asKey(key, async session => {
    const scene: Scene = { session, bucket, prefix, user, object, other, made: object }
    try {
      await store.asAdministrator(async ({ s3 }) => {
        for (const below of placesOf(prefix))
          await s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${below}${object}`, Body: 'proof' }))
        await s3.send(new PutObjectCommand({ Bucket: other.bucket, Key: object, Body: 'proof' }))
      })
      const within = await untilKnown(scene, wanted.access, patienceMilliseconds)
      const outside = prefix === '' ? {} : await outcomesOf(attemptsOutside(scene))
      const byPath = await store.asAdministrator(({ s3 }) => outcomesByPath(scene, s3))
      return { within, outside, never: { ...byPath, ...(await outcomesOf(attemptsNever(scene))) } }
    } finally {
      await clean(store, wanted, key)
    }
  })
}

/** Where objects of the proof are: below the prefix if there is one, outside of it and beside it. */
function placesOf(prefix: string): readonly string[] {
  return prefix === '' ? [''] : [prefix, '', besideOf(prefix)]
}

async function untilKnown(scene: Scene, access: BucketAccess, timeoutMilliseconds: number): Promise<BucketProofFacts['within']> {
  const attempts = attemptsWithin(scene)
  let outcomes = await outcomesOf(attempts)
  const isKnown = (): boolean =>
    (Object.keys(attempts) as Within[]).every(name => !mayDo(access, name) || outcomes[name] === 'done')
  if (isKnown()) return outcomes
  const look = async (): Promise<boolean> => {
    outcomes = await outcomesOf(attempts)
    return isKnown()
  }
  try {
    await waitUntil('the store to know a new key', look, { timeoutMilliseconds, everyMilliseconds: pause })
  } catch (error) {
    if (!isAppError(error, 'unavailable')) throw error
    // What it says now, or that it does not answer.
    await look()
  }
  return outcomes
}

async function clean(store: Store, wanted: WantedUser, key: StoreKey): Promise<void> {
  await cleanProof(store, wanted)
  const { user } = wanted
  for (const { id } of await keysOf(store, user)) if (id !== key.accessKeyId) await dropKey(store, { user, id })
}

/** Ends what a proof of this user's key that broke off has left, in the bucket and beside it. Again it changes nothing. */
export async function cleanProof(store: Store, { bucket, prefix = '', user }: WantedUser): Promise<void> {
  const object = proofName(user)
  const other = { bucket: probeName(store.address.id), object: probeObject }
  await store.asAdministrator(async ({ s3 }) => {
    const remove = (from: string, name: string): Promise<void> => unlessGone(deleteObjects(s3, from, name))
    for (const below of placesOf(prefix)) await remove(bucket, `${below}${object}`)
    // Where names are no paths and the store keeps versions, deleting what never was leaves a mark.
    for (const name of namesByPath({ prefix, object, other })) await remove(bucket, name)
    await remove(other.bucket, object)
    await unlessGone(s3.send(new DeleteBucketCommand({ Bucket: object })))
  })
  await dropUser(store, object)
}

async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (codeOf(error) !== 'NoSuchBucket') throw error
  }
}
