// Signed checkpoints in a bucket, beside the ConfigMap. What the ConfigMap has and the bucket does not is written there, now and
// after each new checkpoint, so a store that was away, and a process that ended anywhere, cost nothing that the ConfigMap still
// has. An object is written once: one with another content is reported and never replaced. See ADR 0109.
import { createHash } from 'node:crypto'
import { type ConfigMap, configMaps } from '../../../api/builtin/index.ts'
import { mergedKeys, signingKeyId } from '../../../identity/oidc/audit-checkpoint.ts'
import { elapsed } from '../../../lib/clock.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { KeptObjects } from '../../../object-store/kept-objects.ts'
import { checkpointsKey, keptKeys, statementsIn } from '../checkpoint-map.ts'
import type { LossDeps, ProvenHead } from '../loss-deps.ts'
import { provenHeads } from '../lost-entries.ts'

/** What a round found: how many checkpoints the bucket does not have, and how many are there with another content. */
export type BucketState = { readonly missing: number; readonly different: number }

export type CheckpointBucketDeps = Pick<LossDeps, 'keys' | 'issuer' | 'clock' | 'log'> & {
  readonly kube: Pick<LossDeps['kube'], 'get'>
  readonly objects: KeptObjects
  /** What the names of all objects begin with. */
  readonly prefix: string
  readonly everyMilliseconds: number
  readonly isLeader: () => boolean
  readonly observe: (state: BucketState) => void
}

export type CheckpointBucket = Periodic & {
  /** One round. Rejects with what the store answered first that is not a success; the rest is missing until the next. */
  readonly once: (signal: AbortSignal) => Promise<BucketState>
}

/** What is in the bucket is compared anew after so long: somebody may have changed or removed it. */
const freshMilliseconds = 3_600_000
const nameDigits = 16

// Memory (checkpoints that are in the bucket): name of the object → whether it has our content
//   life: an hour
//   bound: the checkpoints of the ConfigMap, 177 at most
//   freshness: an hour: then each is compared again
//   replicas: leader only; the next compares all
/** A loop that writes nothing before `start`. */
export function createCheckpointBucket(deps: CheckpointBucketDeps): CheckpointBucket {
  const { kube, observe, everyMilliseconds, isLeader, clock, log } = deps
  let seen = new Map<string, Found>()
  let seenSince = elapsed(clock)

  const once: CheckpointBucket['once'] = async signal => {
    const wanted = await objectsOf(deps, await kube.get(configMaps, checkpointsKey))
    const isFresh = elapsed(clock) - seenSince < freshMilliseconds
    if (!isFresh) seenSince = elapsed(clock)
    seen = isFresh ? only(seen, wanted) : new Map()
    const state = (): BucketState => ({ missing: wanted.length - seen.size, different: differentIn(seen).length })
    try {
      for (const object of wanted) if (!seen.has(object.name)) seen.set(object.name, await keep(deps, object, signal))
    } finally {
      observe(state())
    }
    report(log, seen)
    return state()
  }

  const loop = periodic({ name: 'audit checkpoint bucket', everyMilliseconds, work: once, clock, log, enabled: isLeader })
  return { once, ...loop }
}

type WantedObject = { readonly name: string; readonly text: string }
type Found = 'found' | 'different'

async function keep({ objects, log }: CheckpointBucketDeps, { name, text }: WantedObject, signal: AbortSignal): Promise<Found> {
  const found = await objects.keep(name, text, signal)
  if (found === 'written') log.info({ object: name }, 'audit checkpoint kept in the bucket')
  return found === 'different' ? found : 'found'
}

/** Every round: whoever can change them there is another one than who may. */
function report(log: CheckpointBucketDeps['log'], seen: ReadonlyMap<string, Found>): void {
  const objects = differentIn(seen)
  if (objects.length === 0) return
  log.error({ objects }, 'audit checkpoints in the bucket are not what was written: they were changed, and are left as they are')
}

function only(seen: ReadonlyMap<string, Found>, wanted: readonly WantedObject[]): Map<string, Found> {
  const names = new Set(wanted.map(({ name }) => name))
  return new Map([...seen].filter(([name]) => names.has(name)))
}

function differentIn(seen: ReadonlyMap<string, Found>): readonly string[] {
  return [...seen].flatMap(([name, found]) => (found === 'different' ? [name] : []))
}

/** The newest first: it attests every entry before it. What is not signed by a key of the platform is none. */
async function objectsOf(deps: CheckpointBucketDeps, kept: ConfigMap | undefined): Promise<readonly WantedObject[]> {
  const heads = await provenHeads(deps, kept, [...statementsIn(kept, 'entry'), ...statementsIn(kept, 'lost')])
  const { keys } = mergedKeys(deps.keys.publicKeys, keptKeys(kept))
  return heads.toReversed().map(head => {
    const signer = signingKeyId(head.statement)
    const { crv, kid, kty, x, y } = keys.find(key => key.kid === signer) ?? {}
    // The same text always, however the key is published: another one would be taken for a change.
    return {
      name: nameOf(deps.prefix, head),
      text: `${JSON.stringify({ checkpoint: head.statement, key: { crv, kid, kty, x, y } })}\n`,
    }
  })
}

/** By what it contains: nobody knows the name of an object before its signature. */
function nameOf(prefix: string, { sequence, attestedAt, statement }: ProvenHead): string {
  const digest = createHash('sha256').update(statement).digest('hex').slice(0, nameDigits)
  return `${prefix}${attestedAt.toISOString().slice(0, 10)}/checkpoint-${String(sequence).padStart(nameDigits, '0')}-${digest}.jsonl`
}
