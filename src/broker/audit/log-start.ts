// Where the audit log begins, and whether that was allowed: at its first entry, or after a cut that a platform admin approved
// and this platform signed. Whoever owns the database can remove entries and write an approval, but cannot sign one. It changes
// nothing but its memory.
import type { ConfigMap } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { type AuditCut, mergedKeys, verifyCut } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { headsAfter, isSameHead } from '../../lib/hash-chain/chain-start.ts'
import type { ChainHead, ChainResult } from '../../lib/hash-chain/hash-chain.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import { keptKeys } from './checkpoint-map.ts'
import { examineAll } from './examine-log.ts'
import type { LossDeps, ProvenHead } from './loss-deps.ts'

type StartDeps = Pick<LossDeps, 'audit' | 'keys' | 'issuer'>

/** The head before the first entry, and the cut that allows it; none while the log has all its entries. */
export type LogStart = { readonly start: ChainHead; readonly cut: (AuditCut & { readonly statement: string }) | undefined }

/** Rejects with `integrity_violation` when the log begins later and no signed cut allows it. */
export async function provenStart(deps: StartDeps, kept: ConfigMap | undefined): Promise<LogStart> {
  const start = await deps.audit.start()
  if (start.sequence === 0) return { start, cut: undefined }
  for (const approval of await deps.audit.cuts()) {
    const cut = await signedCut(deps, kept, approval)
    if (cut !== undefined && isSameHead(cut, start)) return { start, cut }
  }
  throw new AppError('integrity_violation', missingText(start))
}

/** For people: what is missing at the beginning. */
function missingText({ sequence }: ChainHead): string {
  return `entry 1 is missing: the log begins after entry ${sequence}, and no cut that the platform signed allows that`
}

async function signedCut(
  { keys, issuer }: StartDeps,
  kept: ConfigMap | undefined,
  { details }: AuditEntry,
): Promise<LogStart['cut']> {
  const parts = details.cutStatement
  if (!Array.isArray(parts)) return undefined
  const statement = parts.join('.')
  try {
    return { ...(await verifyCut(statement, mergedKeys(keys.publicKeys, keptKeys(kept)), issuer)), statement }
  } catch (error) {
    if (isAppError(error, 'integrity_violation')) return undefined
    throw error
  }
}

/** As `examineAll`, of a log that begins after `start`: heads from before it prove nothing any more. */
export async function examineFrom(
  audit: Parameters<typeof examineAll>[0],
  heads: readonly ProvenHead[],
  start: ChainHead,
): Promise<ChainResult> {
  const { later, contradicting } = headsAfter(heads, start)
  if (contradicting === undefined) return examineAll(audit, later, start)
  return { ok: false, kind: 'altered', sequence: start.sequence, problem: 'differs from the checkpoint' }
}

/** Records once that the log begins after an approved cut. */
export async function recordPruned({ audit }: Pick<LossDeps, 'audit'>, { start, cut }: LogStart): Promise<void> {
  if (cut === undefined) return
  const { sequence, hash } = start
  const isRecord = ({ action, details }: AuditEntry) => action === 'audit.pruned' && sameJson(details.cut, { sequence, hash })
  if ((await audit.cuts()).some(isRecord)) return
  await audit.appendOnce(
    {
      action: 'audit.pruned',
      actor: 'sekisho:broker',
      namespace: platformNamespace,
      object: 'AuditLog',
      outcome: 'allowed',
      reason: `the entries up to ${sequence} were removed, as ${cut.by} approved`,
      details: { cut: { sequence, hash }, approvedBy: cut.by },
    },
    earlier => earlier.some(isRecord),
  )
}
