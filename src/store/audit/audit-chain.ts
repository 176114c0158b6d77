// The audit log's rows as links of the hash chain: how a record becomes the next entry, and how a row is read back for
// verification. Pure. What is hashed is what is stored: an entry is rebuilt from its columns before its hash is compared.
import type { AuditAction, AuditRecord } from '../../api/audit/audit-event.ts'
import { type ChainHead, entryHash } from '../../lib/hash-chain/hash-chain.ts'
import { type JsonValue, quoted } from '../../lib/json/canonical-json.ts'

/** A record in the log. `at` is RFC 3339 in UTC with milliseconds; hashes are lower-case hex of SHA-256. */
export type AuditEntry = AuditRecord & {
  readonly sequence: number
  readonly at: string
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

/** The columns in the order of the table, as PostgreSQL writes them in text form; only the namespace can be `null`. */
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

/** Action and outcome are not checked against their lists: verification must be able to read any row. */
export function entryOf(row: Readonly<AuditTexts>): AuditEntry {
  const [sequence, at, action, actor, namespace, object, outcome, reason, details, previousHash, hash] = row
  return {
    sequence: Number(sequence),
    at: isoTime(at),
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

/** The same entry as a line of JSON. What the database has as JSON stays as it is: parsing it is most of what an export costs. */
export function entryLine(row: Readonly<AuditTexts>): string {
  const [sequence, at, action, actor, namespace, object, outcome, reason, details, previousHash, hash] = row
  const place = namespace === null ? '' : `"namespace":${quoted(namespace)},`
  const who = `"action":${quoted(action)},"actor":${quoted(actor)},${place}"object":${quoted(object)}`
  const why = `"outcome":${quoted(outcome)},"reason":${quoted(reason)},"details":${details}`
  const chain = `"previousHash":${quoted(previousHash)},"hash":${quoted(hash)}`
  return `{"sequence":${sequence},"at":"${isoTime(at)}",${who},${why},${chain}}\n`
}

/** `2026-01-02 03:04:05.67+00`, as a session in UTC writes a timestamp: ISO 8601 without trailing zeros. */
const writtenInUtc = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

function isoTime(text: string): string {
  if (!writtenInUtc.test(text)) return new Date(text).toISOString()
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
}
