// Holds the audit log against heads that were attested, and reads as little of it as that needs: usually one entry. It changes
// nothing.
import type { AttestedHead, LostEntries } from '../../lib/hash-chain/attested-heads.ts'
import { type ChainHead, type ChainResult, createChainVerifier, emptyHead, entryHash } from '../../lib/hash-chain/hash-chain.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'

type ReadableLog = Pick<AuditLog, 'list'>

const pageSize = 1000

/**
 * What the log says of the heads. They are looked at in the order in which they were attested: after a loss, sequences begin
 * again. The log is read from the last head on before which nothing is missing, or from its beginning, which must be before
 * all of them.
 */
export async function examineAll(
  audit: ReadableLog,
  heads: readonly AttestedHead[],
  beginning: ChainHead = emptyHead,
): Promise<ChainResult> {
  let start = beginning
  const inTime = [...heads].sort((a, b) => timeOf(a) - timeOf(b) || a.sequence - b.sequence)
  for (const [index, head] of inTime.entries()) {
    if (!(await contains(audit, head))) return verifyAfter(audit, start, inTime.slice(index))
    start = { sequence: head.sequence, hash: head.hash }
  }
  return { ok: true, entries: start.sequence, head: start }
}

/** The losses of a result; none unless entries are missing. */
export function lossesOf(result: ChainResult): readonly LostEntries[] {
  return !result.ok && result.kind === 'truncated' ? result.losses : []
}

function timeOf({ attestedAt }: AttestedHead): number {
  return attestedAt?.getTime() ?? 0
}

/** Whether the log has that entry, with that content. */
export async function contains(audit: ReadableLog, { sequence, hash }: ChainHead): Promise<boolean> {
  if (sequence === 0) return hash === emptyHead.hash
  const [entry] = await audit.list({ after: sequence - 1, limit: 1 })
  return entry?.sequence === sequence && entry.hash === hash && entryHash(entry) === hash
}

async function verifyAfter(audit: ReadableLog, start: ChainHead, heads: readonly AttestedHead[]): Promise<ChainResult> {
  const verifier = createChainVerifier(heads, start)
  let after = start.sequence
  for (;;) {
    const page = await audit.list({ after, limit: pageSize })
    verifier.add(page)
    const last = page.at(-1)
    if (last === undefined) return verifier.result()
    after = last.sequence
  }
}
