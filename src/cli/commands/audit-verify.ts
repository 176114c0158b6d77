// `sekisho audit verify`: downloads the whole log and verifies it on this computer. It trusts only the issuer's signature, and
// saves the head so that the next run finds a truncated or rewritten log. Missing entries are distinguished from altered ones,
// and from those whose loss an admin acknowledged.
import {
  type CheckpointKeys,
  type LossAcknowledgement,
  mergedKeys,
  verifyAcknowledgement,
  verifyCheckpoint,
} from '../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { type AttestedHead, acknowledges, type LostEntries } from '../../lib/hash-chain/attested-heads.ts'
import { type ChainHead, type ChainResult, createChainVerifier } from '../../lib/hash-chain/hash-chain.ts'
import { asObject, isJsonObject, objectAt, textAt } from '../../lib/json/json-value.ts'
import { isHead, type RememberedHead, rememberedHead, rememberHead } from '../files/audit-head-file.ts'
import { type KeptCheckpoints, noCheckpoints, readCheckpoints } from '../files/checkpoint-file.ts'
import { json, type PlainFormat } from '../output.ts'
import type { PlatformApi } from '../platform-api.ts'
import { type Entry, entriesOf } from './audit.ts'
import type { CommandContext } from './context.ts'

const pageSize = 1000

type SignedHead = ChainHead & { readonly statement: string }

function isSignedHead(value: unknown): value is SignedHead {
  return isHead(value) && textAt(asObject(value), 'statement') !== undefined
}

function isKeySet(value: unknown): value is CheckpointKeys {
  return isJsonObject(value) && Array.isArray(value['keys'])
}

/** Rejects as `api` does without a response: an outage must not look like a changed log. */
async function platformKeys(api: PlatformApi): Promise<CheckpointKeys> {
  const keys = await api.json('/oidc/jwks')
  if (isKeySet(keys)) return keys
  throw new AppError('upstream_failed', 'the platform sent no signing keys')
}

async function signedHead(api: PlatformApi, keys: CheckpointKeys, issuer: string): Promise<RememberedHead & SignedHead> {
  const head = await api.json('/api/v1/audit/head')
  if (!isSignedHead(head)) throw new AppError('integrity_violation', 'the platform sent no signed head')
  const stated = await verifyCheckpoint(head.statement, keys, issuer)
  if (stated.sequence !== head.sequence || stated.hash !== head.hash)
    throw new AppError('integrity_violation', 'the signed head differs from the head that the platform reports')
  return { ...stated, statement: head.statement }
}

type ReadLog = { readonly result: ChainResult; readonly acknowledgements: readonly string[] }

async function readLog(api: PlatformApi, heads: readonly AttestedHead[], say: (text: string) => void): Promise<ReadLog> {
  const verifier = createChainVerifier(heads)
  const acknowledgements: string[] = []
  let after = 0
  for (;;) {
    const query = new URLSearchParams({ after: String(after), limit: String(pageSize) })
    const entries = entriesOf(await api.lines('/api/v1/audit', query))
    verifier.add(entries)
    acknowledgements.push(...entries.flatMap(entry => acknowledgementIn(entry) ?? []))
    const last = entries.at(-1)
    if (last === undefined) return { result: verifier.result(), acknowledgements }
    if (last.sequence <= after)
      throw new AppError('integrity_violation', `entry ${after + 1}: the platform sent earlier entries again`)
    after = last.sequence
    say(`${after} entries read`)
  }
}

function acknowledgementIn(entry: Entry): string | undefined {
  if (entry['action'] !== 'audit.loss-acknowledged') return undefined
  const parts = objectAt(entry, 'details')?.['acknowledgement']
  return Array.isArray(parts) ? parts.join('.') : undefined
}

/** Only what the issuer signed: whoever owns the database can write entries. */
async function validAcknowledgements(
  statements: readonly string[],
  keySets: readonly CheckpointKeys[],
  issuer: string,
): Promise<readonly LossAcknowledgement[]> {
  const valid: LossAcknowledgement[] = []
  const keySet = mergedKeys(...keySets)
  for (const statement of statements) {
    try {
      valid.push(await verifyAcknowledgement(statement, keySet, issuer))
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
    }
  }
  return valid
}

/** A loss that a platform admin acknowledged. */
type KnownLoss = { readonly from: number; readonly to: number; readonly by: string; readonly at: string }

/** Throws `log_truncated` for a loss that nobody acknowledged. */
function knownLosses(losses: readonly LostEntries[], acknowledged: readonly LossAcknowledgement[], problem: string): KnownLoss[] {
  return losses.map(loss => {
    const found = acknowledged.find(one => acknowledges(one, loss))
    if (found === undefined)
      throw new AppError(
        'log_truncated',
        `${problem}. Find out why; when a crash explains it: sekisho audit acknowledge --reason <what you found>`,
      )
    const to = Math.max(found.lost.sequence, loss.attested.at(-1)?.sequence ?? 0)
    return { from: loss.remaining.sequence + 1, to, by: found.by, at: found.at.toISOString() }
  })
}

type AuditVerifyOptions = { readonly output: PlainFormat; readonly checkpoint?: string }

/**
 * Verifies the whole log and saves its head. Rejects with `integrity_violation` when an entry is not what it was, and with
 * `log_truncated` when all entries verify but attested ones are missing.
 */
export async function auditVerify(context: CommandContext, options: AuditVerifyOptions): Promise<void> {
  const { settings, say } = context
  const api = await context.api()
  const remembered = await rememberedHead(settings)
  const keys = await platformKeys(api)
  const stated = await signedHead(api, keys, settings.issuer)
  const kept = options.checkpoint === undefined ? noCheckpoints : await readCheckpoints(options.checkpoint, keys, settings.issuer)
  const heads = [stated, ...(remembered === undefined ? [] : [remembered]), ...kept.heads]
  const { result, acknowledgements } = await readLog(api, heads, say)
  if (!result.ok && result.kind === 'altered')
    throw new AppError('integrity_violation', `entry ${result.sequence}: ${result.problem}`)
  const losses = result.ok ? [] : result.losses
  const known = await validAcknowledgements(acknowledgements, [keys, ...kept.keySets], settings.issuer)
  const verified = { head: result.head, losses: result.ok ? [] : knownLosses(losses, known, result.problem) }
  if (isSame(stated, verified.head)) await rememberHead(settings, stated)
  else await rememberHead(settings, { ...verified.head, attestedAt: context.clock.now() })
  show(context, options, { ...verified, remembered, kept })
}

function isSame(one: ChainHead, other: ChainHead): boolean {
  return one.sequence === other.sequence && one.hash === other.hash
}

type Verified = {
  readonly head: ChainHead
  readonly losses: readonly KnownLoss[]
  readonly remembered: AttestedHead | undefined
  readonly kept: KeptCheckpoints
}

function show({ terminal, settings }: CommandContext, { output }: AuditVerifyOptions, verified: Verified): void {
  const { head, losses, remembered, kept } = verified
  const before = remembered && { sequence: remembered.sequence, hash: remembered.hash }
  if (output === 'json') {
    const checkpoints = kept.heads.length
    terminal.result(
      json({ ok: true, entries: head.sequence, head, signed: true, remembered: before ?? null, checkpoints, losses }),
    )
    return
  }
  const since =
    before === undefined
      ? 'first verification on this computer'
      : losses.some(({ from, to }) => before.sequence >= from && before.sequence <= to)
        ? `entry ${before.sequence}, verified last, is among the missing ones`
        : `entry ${before.sequence} is unchanged since the last verification`
  const compared = kept.heads.length === 0 ? '' : `; compared with ${kept.heads.length} kept checkpoints`
  const missing = losses.map(
    ({ from, to, by, at }) =>
      `\nentries ${from} to ${to} are missing: acknowledged by ${by} at ${at}, see audit.loss-acknowledged`,
  )
  terminal.result(
    `audit log verified: ${head.sequence} entries, head ${head.hash}, signed by ${settings.issuer}; ${since}${compared}${missing.join('')}`,
  )
}
