// Cuts the audit log where the platform allowed it. Before anything is removed, all that would be removed is read and verified
// against checkpoints that were kept outside of the database: what was altered must not be made forgotten. The removal is one
// statement, all or nothing, which the database itself allows only for an approved cut (prisma/migrations, audit.prune).
import { leastKeptDays, leastKeptMilliseconds } from '../api/audit/retention.ts'
import {
  type AuditCheckpoint,
  type AuditCut,
  type CheckpointKeys,
  verifyCheckpoint,
  verifyCut,
} from '../identity/oidc/audit-checkpoint.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, isAppError } from '../lib/errors.ts'
import { headsAfter, isSameHead } from '../lib/hash-chain/chain-start.ts'
import { type ChainHead, createChainVerifier } from '../lib/hash-chain/hash-chain.ts'
import type { AuditEntry } from '../store/audit/audit-chain.ts'
import { pruneThrough, readCuts, readEntries, readStart } from '../store/audit/audit-rows.ts'
import type { Database } from '../store/database/database.ts'

export type CutDeps = {
  readonly pool: Database['pool']
  readonly clock: Pick<Clock, 'now'>
  /** The issuer that must have signed the cut and the checkpoints. */
  readonly issuer: string
  /** Checkpoints that were kept outside of the database, and keys that whoever kept them vouches for. */
  readonly kept: { readonly statements: readonly string[]; readonly keys: CheckpointKeys }
}

/** A cut that may be made; everything up to it verifies. */
export type CutPlan = {
  readonly cut: AuditCut
  /** The sequence of the entry that approves it. */
  readonly approval: number
  /** The first and the last entry that would be removed, and how many they are. */
  readonly first: number
  readonly entries: number
  /** When the last of them was written. */
  readonly through: string
  /** How many kept checkpoints are about what would be removed, and agree with it. */
  readonly checkpoints: number
}

const pageSize = 1000

/**
 * The newest cut that is approved and not made; undefined without one. Rejects with `integrity_violation` when what it would
 * remove does not verify, and with `conflict` for entries that are too young. Reads only.
 */
export async function plannedCut(deps: CutDeps): Promise<CutPlan | undefined> {
  const start = await readStart(deps.pool)
  for (const entry of await readCuts(deps.pool)) {
    const cut = await signedCut(deps, entry)
    if (cut === undefined || cut.sequence <= start.sequence) continue
    const { through, checkpoints } = await verifyUpTo(deps, start, cut)
    const first = start.sequence + 1
    return { cut, approval: entry.sequence, first, entries: cut.sequence - start.sequence, through, checkpoints }
  }
  return undefined
}

/** Removes what the plan says, at once or not at all, and resolves to the number of entries that were removed. */
export async function makeCut({ pool }: Pick<CutDeps, 'pool'>, { cut, approval, entries }: CutPlan): Promise<number> {
  const removed = await pruneThrough(pool, approval, cut)
  if (removed > entries) throw new AppError('internal', `${removed} entries were removed, and ${entries} were verified`)
  return removed
}

async function signedCut({ kept, issuer }: CutDeps, { action, details }: AuditEntry): Promise<AuditCut | undefined> {
  const parts = details.cutStatement
  if (action !== 'audit.prune-approved' || !Array.isArray(parts)) return undefined
  try {
    return await verifyCut(parts.join('.'), kept.keys, issuer)
  } catch (error) {
    if (isAppError(error, 'integrity_violation')) return undefined
    throw error
  }
}

/** Of the kept checkpoints those that verify: others prove nothing. */
async function keptHeads({ kept, issuer }: CutDeps): Promise<readonly AuditCheckpoint[]> {
  const heads: AuditCheckpoint[] = []
  for (const statement of kept.statements) {
    try {
      heads.push(await verifyCheckpoint(statement, kept.keys, issuer))
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
    }
  }
  return heads
}

async function verifyUpTo(
  deps: CutDeps,
  start: ChainHead,
  cut: AuditCut,
): Promise<{ readonly through: string; readonly checkpoints: number }> {
  const { later } = headsAfter(await keptHeads(deps), start)
  const heads = later.filter(({ sequence }) => sequence <= cut.sequence)
  const verifier = createChainVerifier(heads, start)
  const youngest = new Date(deps.clock.now().getTime() - leastKeptMilliseconds).toISOString()
  let through = ''
  for (let after = start.sequence; after < cut.sequence; ) {
    const page = await readEntries(deps.pool, { after, through: cut.sequence, limit: pageSize })
    const young = page.find(({ at }) => at >= youngest)
    if (young !== undefined)
      throw new AppError('conflict', `entry ${young.sequence} is younger than ${leastKeptDays} days: nothing was removed`)
    verifier.add(page)
    const last = page.at(-1)
    if (last === undefined) break
    after = last.sequence
    through = last.at
  }
  const result = verifier.result()
  if (!result.ok)
    throw new AppError(
      'integrity_violation',
      `entry ${result.sequence}: ${result.problem}; nothing was removed: run sekisho audit verify`,
    )
  const [next] = await readEntries(deps.pool, { after: cut.sequence, limit: 1 })
  if (!isSameHead(result.head, cut) || next?.previousHash !== cut.hash)
    throw new AppError('integrity_violation', `entry ${cut.sequence} is not the one that the cut names; nothing was removed`)
  return { through, checkpoints: heads.length }
}
