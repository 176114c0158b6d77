// Which missing entries of the audit log somebody acknowledged, by what the issuer signed: whoever owns the database can write
// entries, and sign nothing.
import {
  type AuditCut,
  type CheckpointKeys,
  type LossAcknowledgement,
  verifyAcknowledgement,
  verifyCut,
} from '../../../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../../../lib/errors.ts'
import { acknowledges, type LostEntries } from '../../../../lib/hash-chain/attested-heads.ts'
import { isSameHead } from '../../../../lib/hash-chain/chain-start.ts'
import type { ChainHead } from '../../../../lib/hash-chain/hash-chain.ts'
import { objectAt } from '../../../../lib/json/json-value.ts'
import type { Entry } from '../entry.ts'

/** By whose keys statements are judged. */
export type Signer = { readonly keys: CheckpointKeys; readonly issuer: string }

/** The statement in an entry that acknowledges a loss, or approves a cut. */
export function statementIn(entry: Entry, action: 'audit.loss-acknowledged' | 'audit.prune-approved'): string | undefined {
  if (entry['action'] !== action) return undefined
  const field = action === 'audit.loss-acknowledged' ? 'acknowledgement' : 'cutStatement'
  const parts = objectAt(entry, 'details')?.[field]
  return Array.isArray(parts) ? parts.join('.') : undefined
}

async function valid<T>(statements: readonly string[], verify: (statement: string) => Promise<T>): Promise<readonly T[]> {
  const found: T[] = []
  for (const statement of statements) {
    try {
      found.push(await verify(statement))
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
    }
  }
  return found
}

export function validAcknowledgements(
  statements: readonly string[],
  { keys, issuer }: Signer,
): Promise<readonly LossAcknowledgement[]> {
  return valid(statements, statement => verifyAcknowledgement(statement, keys, issuer))
}

/** Throws `integrity_violation` when the log begins after `start` and none of the statements is a signed cut there. */
export async function requireCut(
  start: ChainHead,
  statements: readonly string[],
  { keys, issuer }: Signer,
): Promise<AuditCut | undefined> {
  if (start.sequence === 0) return undefined
  const cut = (await valid(statements, statement => verifyCut(statement, keys, issuer))).find(one => isSameHead(one, start))
  if (cut !== undefined) return cut
  throw new AppError(
    'integrity_violation',
    `entry 1 is missing: the log begins after entry ${start.sequence}, and no cut that ${issuer} signed allows that`,
  )
}

/** A loss that a platform admin acknowledged. */
export type KnownLoss = { readonly from: number; readonly to: number; readonly by: string; readonly at: string }

/** Throws `log_truncated` for a loss that nobody acknowledged. */
export function knownLosses(
  losses: readonly LostEntries[],
  acknowledged: readonly LossAcknowledgement[],
  problem: string,
): KnownLoss[] {
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
