// A platform admin allows that the oldest entries of the audit log are removed. The broker signs the cut and records it; it
// removes nothing, and has no right to. A cut is at a checkpoint that this platform signed, and never hides a problem: see
// docs/adr/0082-the-log-is-cut-at-a-signed-head.md.
import { leastKeptDays, leastKeptMilliseconds } from '../../api/audit/retention.ts'
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { signCut } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../lib/errors.ts'
import { isSameHead } from '../../lib/hash-chain/chain-start.ts'
import { entryHash } from '../../lib/hash-chain/hash-chain.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import { checkpointsKey, problemAnnotation, statementsIn } from './checkpoint-map.ts'
import { examineFrom, provenStart } from './log-start.ts'
import type { LossDeps, ProvenHead } from './loss-deps.ts'
import { provenHeads } from './lost-entries.ts'

export type CutRequest = {
  readonly actor: string
  readonly reason: string
  /** A checkpoint that this platform signed. */
  readonly statement: string
}

/** What was allowed, and by which entry. */
export type ApprovedCut = {
  readonly sequence: number
  readonly hash: string
  readonly approval: number
  readonly entries: number
}

/**
 * Rejects with `invalid_request` for a statement of somebody else or a young entry, and with `conflict` while the log has a
 * problem or does not contain the checkpoint.
 */
export async function approveCut(deps: LossDeps, { actor, reason, statement }: CutRequest): Promise<ApprovedCut> {
  const kept = await deps.kube.get(configMaps, checkpointsKey)
  const head = await requireSigned(deps, kept, statement)
  const { start } = await provenStart(deps, kept)
  if (head.sequence <= start.sequence)
    throw new AppError('invalid_request', `the log begins after entry ${start.sequence} already: there is nothing to remove`)
  const entry = await requireEntry(deps, head)
  await requireNoProblem(deps, kept, head, start)
  const { sequence, hash } = head
  const signed = await signCut(deps.keys, deps.issuer, { sequence, hash, by: actor })
  const approval = await deps.audit.append({
    action: 'audit.prune-approved',
    actor,
    namespace: platformNamespace,
    object: 'AuditLog',
    outcome: 'allowed',
    reason,
    details: { cut: { sequence, hash }, cutAt: entry.at, cutStatement: signed.split('.') },
  })
  return { sequence, hash, approval: approval.sequence, entries: sequence - start.sequence }
}

async function requireSigned(deps: LossDeps, kept: ConfigMap | undefined, statement: string): Promise<ProvenHead> {
  const [head] = await provenHeads(deps, kept, [{ sequence: 0, statement }])
  if (head !== undefined) return head
  throw new AppError('invalid_request', 'the checkpoint is not signed by this platform')
}

async function requireEntry({ audit, clock }: LossDeps, head: ProvenHead): Promise<AuditEntry> {
  const [entry] = await audit.list({ after: head.sequence - 1, limit: 1 })
  if (entry === undefined || !isSameHead(entry, head) || entryHash(entry) !== entry.hash)
    throw new AppError(
      'conflict',
      `the log does not have the entry ${head.sequence} that the checkpoint attests: run sekisho audit verify`,
    )
  if (Date.parse(entry.at) < clock.now().getTime() - leastKeptMilliseconds) return entry
  throw new AppError('invalid_request', `entry ${head.sequence} is younger than ${leastKeptDays} days, which are always kept`)
}

/** What is missing or altered must not be made forgotten. */
async function requireNoProblem(
  deps: LossDeps,
  kept: ConfigMap | undefined,
  head: ProvenHead,
  start: { readonly sequence: number; readonly hash: string },
): Promise<void> {
  const problem = kept?.metadata.annotations?.[problemAnnotation]
  if (problem !== undefined) throw new AppError('conflict', `the audit log has a problem that nobody acknowledged: ${problem}`)
  const lost = statementsIn(kept, 'lost').find(({ sequence }) => sequence >= head.sequence)
  if (lost !== undefined)
    throw new AppError(
      'conflict',
      `entries up to ${lost.sequence} were lost once: cut after a later one, so that the proof of it stays whole`,
    )
  const result = await examineFrom(deps.audit, await provenHeads(deps, kept, statementsIn(kept, 'entry')), start)
  if (!result.ok) throw new AppError('conflict', `entry ${result.sequence}: ${result.problem}; run sekisho audit verify`)
}
