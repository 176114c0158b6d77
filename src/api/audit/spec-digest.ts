// What identifies the content of a spec in the audit log, so that a request is found again by what the object then has. Pure.
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'

/** SHA-256 (hex) of the canonical JSON of a spec: the same for what was asked for and what the object then has. */
export function specDigest(spec: unknown): string {
  return createHash('sha256')
    .update(canonicalJson((spec ?? null) as JsonValue))
    .digest('hex')
}
