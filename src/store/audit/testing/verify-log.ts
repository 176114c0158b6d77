// For tests and the bench: verifies a whole audit log through its port, as `sekisho audit verify` does over HTTP.
import type { AttestedHead } from '../../../lib/hash-chain/attested-heads.ts'
import { type ChainResult, createChainVerifier } from '../../../lib/hash-chain/hash-chain.ts'
import type { AuditEntry } from '../audit-chain.ts'
import type { AuditLog } from '../audit-log.ts'

const pageSize = 1000

/** Reads and rehashes every entry. A checkpoint taken earlier also finds a truncated and a rewritten chain. */
export async function verifyLog(log: Pick<AuditLog, 'list'>, checkpoint?: AttestedHead): Promise<ChainResult> {
  const verifier = createChainVerifier(checkpoint === undefined ? [] : [checkpoint])
  const pageAfter = (after: number) => log.list({ after, limit: pageSize })
  const addPage = async (entries: readonly AuditEntry[]): Promise<void> => {
    // The request for the next page must have been sent before hashing occupies the thread.
    await new Promise(resolve => setImmediate(resolve))
    verifier.add(entries)
  }
  let page = await pageAfter(0)
  while (page.length > 0) {
    const [following] = await Promise.all([pageAfter(page.at(-1)?.sequence ?? 0), addPage(page)])
    page = following
  }
  return verifier.result()
}
