// What the platform does about attested entries that are missing: it records that, keeps the proof, and goes on. The problem
// stays visible until a platform admin acknowledges it with a signature of the issuer, which whoever owns the database only
// cannot make. See ADR 0031.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import {
  type LossAcknowledgement,
  mergedKeys,
  signAcknowledgement,
  verifyAcknowledgement,
  verifyCheckpoint,
} from '../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { type AttestedHead, acknowledges, type LostEntries } from '../../lib/hash-chain/attested-heads.ts'
import { type ChainHead, lossText } from '../../lib/hash-chain/hash-chain.ts'
import {
  acknowledgedFields,
  acknowledgementsIn,
  checkpointsKey,
  type KeptStatement,
  keptKeys,
  keysFields,
  lostFields,
  maxLost,
  problemAnnotation,
  statementsIn,
} from './checkpoint-map.ts'
import { lossesOf } from './examine-log.ts'
import { examineFrom, provenStart } from './log-start.ts'
import type { LossDeps, ProvenHead } from './loss-deps.ts'

const manager = { fieldManager: 'sekisho-broker-audit' }

/** The statements that verify with the published keys or with those beside them. Others are left out: they prove nothing. */
export async function provenHeads(
  { keys, issuer }: Pick<LossDeps, 'keys' | 'issuer'>,
  kept: ConfigMap | undefined,
  statements: readonly KeptStatement[],
): Promise<readonly ProvenHead[]> {
  const keySet = mergedKeys(keys.publicKeys, keptKeys(kept))
  const heads: ProvenHead[] = []
  for (const { statement } of statements) {
    try {
      heads.push({ ...(await verifyCheckpoint(statement, keySet, issuer)), statement })
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
    }
  }
  return heads.sort((a, b) => a.sequence - b.sequence)
}

/** Records each loss once in the log, then moves its statements aside and marks the problem, so that the export can go on. */
export async function recordLosses(
  deps: LossDeps,
  kept: ConfigMap,
  found: { readonly losses: readonly LostEntries[]; readonly heads: readonly ProvenHead[]; readonly actor: string },
): Promise<void> {
  const lost = found.losses.flatMap(({ attested }) => attested)
  if (statementsIn(kept, 'lost').length + lost.length > maxLost)
    throw new AppError('conflict', `more than ${maxLost} attested heads of the audit log are missing: examine the database first`)
  const statementOf = (head: ChainHead): string =>
    found.heads.find(({ sequence, hash }) => sequence === head.sequence && hash === head.hash)?.statement ?? ''
  for (const loss of found.losses) await recordLoss(deps, loss, { actor: found.actor, statement: statementOf(farthest(loss)) })
  const fields = lostFields(lost.map(head => ({ sequence: head.sequence, statement: statementOf(head) })))
  await change(deps, kept, fields, found.losses.map(loss => lossText(loss, loss.remaining.sequence)).join('; '))
}

async function recordLoss(
  { audit }: LossDeps,
  loss: LostEntries,
  { actor, statement }: { readonly actor: string; readonly statement: string },
): Promise<void> {
  const details = lossDetails(loss)
  const record = {
    action: 'audit.truncated',
    actor,
    namespace: platformNamespace,
    object: 'AuditLog',
    outcome: 'failed',
    reason: lossText(loss, loss.remaining.sequence),
    details: { ...details, statement: statement.split('.') },
  } as const
  await audit.appendOnce(record, earlier => earlier.some(entry => hashIn(entry.details.attested) === details.attested.hash))
}

/** The losses that nobody acknowledged. */
export async function openLosses(deps: LossDeps, kept: ConfigMap | undefined): Promise<readonly LostEntries[]> {
  const lost = await provenHeads(deps, kept, statementsIn(kept, 'lost'))
  if (lost.length === 0) return []
  const present = await provenHeads(deps, kept, statementsIn(kept, 'entry'))
  const acknowledged = await acknowledgements(deps, kept)
  const { start } = await provenStart(deps, kept)
  return lossesOf(await examineFrom(deps.audit, [...present, ...lost], start)).filter(
    loss => !acknowledged.some(one => acknowledges(one, loss)),
  )
}

async function acknowledgements(
  { keys, issuer }: LossDeps,
  kept: ConfigMap | undefined,
): Promise<readonly LossAcknowledgement[]> {
  const keySet = mergedKeys(keys.publicKeys, keptKeys(kept))
  const found: LossAcknowledgement[] = []
  for (const statement of acknowledgementsIn(kept)) {
    try {
      found.push(await verifyAcknowledgement(statement, keySet, issuer))
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
    }
  }
  return found
}

/** What an admin acknowledges: `statements` are checkpoints that the admin kept, newer ones than the platform's perhaps. */
export type AcknowledgeRequest = {
  readonly actor: string
  readonly reason: string
  readonly statements: readonly string[]
}

/**
 * Acknowledges every open loss. Rejects with `not_found` when nothing is missing, and with `conflict` when entries were
 * altered: that is not a loss, and no acknowledgement makes it one.
 */
export async function acknowledgeLosses(deps: LossDeps, request: AcknowledgeRequest): Promise<readonly LossAcknowledgement[]> {
  await recordPresented(deps, request)
  const kept = await deps.kube.get(configMaps, checkpointsKey)
  const open = await openLosses(deps, kept)
  if (kept === undefined || open.length === 0) throw new AppError('not_found', 'no attested entry of the audit log is missing')
  const done: LossAcknowledgement[] = []
  let fields = {}
  for (const loss of open) {
    const { remaining } = loss
    const lost = headOf(farthest(loss))
    const resumedAt = loss.resumedAt ?? deps.clock.now().toISOString()
    const acknowledged = { remaining: headOf(remaining), lost, resumedAt, by: request.actor }
    const statement = await signAcknowledgement(deps.keys, deps.issuer, acknowledged)
    await deps.audit.append({
      action: 'audit.loss-acknowledged',
      actor: request.actor,
      namespace: platformNamespace,
      object: 'AuditLog',
      outcome: 'allowed',
      reason: request.reason,
      details: { ...lossDetails(loss), acknowledgement: statement.split('.') },
    })
    fields = { ...fields, ...acknowledgedFields(remaining, lost, statement) }
    done.push({ ...acknowledged, at: deps.clock.now() })
  }
  await change(deps, kept, fields, null)
  return done
}

/** Heads that the platform does not have: it took its last checkpoint before. */
async function recordPresented(deps: LossDeps, { statements, actor }: AcknowledgeRequest): Promise<void> {
  const kept = await deps.kube.get(configMaps, checkpointsKey)
  const own = await provenHeads(deps, kept, statementsIn(kept, 'entry'))
  const presented = await provenHeads(
    deps,
    kept,
    statements.map(statement => ({ sequence: 0, statement })),
  )
  const known = new Set(statementsIn(kept, 'lost').map(({ sequence }) => sequence))
  const heads = [...own, ...presented.filter(({ sequence }) => !known.has(sequence))]
  const result = await examineFrom(deps.audit, heads, (await provenStart(deps, kept)).start)
  if (!result.ok && result.kind === 'altered')
    throw new AppError('conflict', `entry ${result.sequence} ${result.problem}: it was altered, which cannot be acknowledged`)
  const losses = lossesOf(result)
  if (losses.length > 0 && kept !== undefined) await recordLosses(deps, kept, { losses, heads, actor })
}

/**
 * Rejects with a conflict of the API server when another replica wrote first: the next round, or the next request, sees what it
 * wrote.
 */
async function change(
  { kube, keys }: LossDeps,
  kept: ConfigMap,
  fields: Readonly<Record<string, string | null>>,
  problem: string | null,
): Promise<void> {
  const data = { ...fields, ...keysFields(kept, fields, keys.publicKeys) }
  const { resourceVersion } = kept.metadata
  const metadata = { resourceVersion, annotations: { [problemAnnotation]: problem } }
  await kube.mergePatch(configMaps, checkpointsKey, { metadata, data }, manager)
}

function farthest({ attested, remaining }: LostEntries): AttestedHead {
  return attested.at(-1) ?? remaining
}

function headOf({ sequence, hash }: ChainHead): ChainHead {
  return { sequence, hash }
}

function lossDetails(loss: LostEntries) {
  const attested = headOf(farthest(loss))
  return { lost: [loss.remaining.sequence + 1, attested.sequence], remaining: headOf(loss.remaining), attested }
}

function hashIn(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'hash' in value ? value.hash : undefined
}
