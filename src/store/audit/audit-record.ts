// Makes a record fit for permanent storage: bounds on every text, always an actor, only content that has one canonical form.
// Texts from outside are repaired rather than refused (a NUL in a login must not keep its refusal out of the log). Pure.
import { type AuditRecord, auditActions } from '../../api/audit/audit-event.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import { redactTokens } from '../../lib/log.ts'

const maxName = 1024
const maxReason = 2048
/** More than the largest grant has: fifty repositories, thirty permissions, twenty subjects, and who approved. */
const maxDetails = 32_768
const replacement = '\uFFFD'

/**
 * The record as it will be stored. Throws `internal` for mistakes of the caller: no actor, details too large or not canonical.
 */
export function storableRecord(record: AuditRecord): AuditRecord {
  if (!auditActions.includes(record.action)) throw mistake(`action ${String(record.action)} is not in the closed list`)
  if (record.actor.trim() === '') throw mistake(`actor is empty in ${record.action}`)
  const details = repaired(record.details)
  const size = canonicalSize(details, record.action)
  if (size > maxDetails) throw mistake(`details of ${record.action} are ${size} bytes; at most ${maxDetails} are stored`)
  return {
    action: record.action,
    actor: text(record.actor, maxName),
    ...(record.namespace === undefined ? {} : { namespace: text(record.namespace, maxName) }),
    object: text(record.object, maxName),
    outcome: record.outcome,
    reason: text(record.reason, maxReason),
    details,
  }
}

function canonicalSize(details: JsonValue, action: string): number {
  try {
    return Buffer.byteLength(canonicalJson(details))
  } catch (error) {
    throw mistake(`details of ${action} do not have a canonical form: ${messageOf(error)}`)
  }
}

function repaired<T extends JsonValue>(value: T): T
function repaired(value: JsonValue): JsonValue {
  if (typeof value === 'string') return text(value, maxReason)
  if (Array.isArray(value)) return value.map(item => repaired(item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as { readonly [key: string]: JsonValue }).map(([key, item]) => [
    text(key, 256),
    repaired(item),
  ])
  return Object.fromEntries(entries)
}

/** PostgreSQL stores neither NUL nor an unpaired surrogate; the log never stores a token. */
function text(value: string, most: number): string {
  const clean = redactTokens(value.toWellFormed().replaceAll('\0', replacement))
  return clean.length <= most ? clean : `${clean.slice(0, most - 1).toWellFormed()}…`
}

function mistake(problem: string): AppError {
  return new AppError('internal', `audit record: ${problem}`)
}
