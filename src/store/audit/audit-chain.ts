// The audit log's rows as links of the hash chain: how a record becomes the next entry, and how a row is read back for verification.
// Pure. What is hashed is what is stored: an entry is rebuilt from its columns before its hash is looked at.
import type { AuditAction, AuditRecord } from '../../api/audit-event.ts'
import { type ChainHead, entryHash } from '../../lib/hash-chain.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'

/** A record in the log. `at` is RFC 3339 in UTC with milliseconds; hashes are lower-case hex of SHA-256. */
export type AuditEntry = AuditRecord & {
  readonly sequence: number
  readonly at: string
  readonly previousHash: string
  readonly hash: string
}

/** The columns of `audit.entries` as Prisma returns them. */
export type AuditColumns = {
  readonly sequence: bigint
  readonly at: Date
  readonly action: string
  readonly actor: string
  readonly namespace: string | null
  readonly object: string
  readonly outcome: string
  readonly reason: string
  readonly details: unknown
  readonly previousHash: string
  readonly hash: string
}

/** The entries that follow `head`, in the order of the records. */
export function nextEntries(
  head: ChainHead,
  records: readonly { readonly record: AuditRecord; readonly at: Date }[],
): AuditEntry[] {
  let last = head
  return records.map(({ record, at }) => {
    const content = { ...record, sequence: last.sequence + 1, at: at.toISOString(), previousHash: last.hash }
    const entry: AuditEntry = { ...content, hash: entryHash(content) }
    last = { sequence: entry.sequence, hash: entry.hash }
    return entry
  })
}

export function columnsOf(entry: AuditEntry) {
  return { ...entry, sequence: BigInt(entry.sequence), at: new Date(entry.at) }
}

/** The parse boundary: the words of a row are not looked up, because verification must read whatever stands there. */
export function entryOf(row: AuditColumns): AuditEntry {
  return {
    sequence: Number(row.sequence),
    at: row.at.toISOString(),
    action: row.action as AuditAction,
    actor: row.actor,
    ...(row.namespace === null ? {} : { namespace: row.namespace }),
    object: row.object,
    outcome: row.outcome as AuditEntry['outcome'],
    reason: row.reason,
    details: row.details as { readonly [key: string]: JsonValue },
    previousHash: row.previousHash,
    hash: row.hash,
  }
}

/** The columns in the order of the table, as PostgreSQL writes them; `null` only for the namespace. */
export type AuditTexts = [
  sequence: string,
  at: string,
  action: string,
  actor: string,
  namespace: string | null,
  object: string,
  outcome: string,
  reason: string,
  details: string,
  previousHash: string,
  hash: string,
]

/** As `entryOf`, for a row whose columns were left as texts. */
export function entryOfTexts(row: Readonly<AuditTexts>): AuditEntry {
  const [sequence, at, action, actor, namespace, object, outcome, reason, details, previousHash, hash] = row
  return {
    sequence: Number(sequence),
    at: momentOf(at),
    action: action as AuditAction,
    actor,
    ...(namespace === null ? {} : { namespace }),
    object,
    outcome: outcome as AuditEntry['outcome'],
    reason,
    details: JSON.parse(details) as { readonly [key: string]: JsonValue },
    previousHash,
    hash,
  }
}

/** `2026-01-02 03:04:05.67+00`, which is how a session in UTC writes moments: ISO 8601 without trailing zeros. */
const writtenInUtc = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

function momentOf(text: string): string {
  if (!writtenInUtc.test(text)) return new Date(text).toISOString()
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
}
