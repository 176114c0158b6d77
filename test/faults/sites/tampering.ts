// What an intruder with the database owner's password does to the audit log: one statement each, and which entry a verifier has to name.
// The trigger that refuses changes goes first, as it would.
import type { Database } from '../../../src/store/database.ts'

export type Tampering = {
  readonly name: string
  readonly sql: string
  /** The first entry at fault; for a removed one the entry after it does not fit. */
  readonly sequence: number
}

/** Every digit of a hash becomes the next one, also those of the zeros before the first entry. */
const digits = `'0123456789abcdef', '123456789abcdef0'`
/** Beyond every sequence of a test, so that rows can change places without meeting. */
const aside = 1_000_000
const q = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Every column of an entry altered by itself, with a value that differs. */
const edits: readonly (readonly [string, (salt: number) => string])[] = [
  ['at', salt => `at = at + interval '${(salt % 1000) + 1} milliseconds'`],
  ['action', () => `action = CASE action WHEN 'token.minted' THEN 'token.revoked' ELSE 'token.minted' END`],
  ['actor', salt => `actor = actor || ${q(String(salt))}`],
  ['namespace', salt => `namespace = coalesce(namespace, '') || ${q(String.fromCharCode(97 + (salt % 26)))}`],
  ['object', salt => `object = ${q(`Other/${salt}`)}`],
  ['outcome', () => `outcome = CASE outcome WHEN 'allowed' THEN 'denied' ELSE 'allowed' END`],
  ['reason', salt => `reason = reason || ${q(' '.repeat((salt % 3) + 1))}`],
  ['details', salt => `details = details || '{"added": ${salt}}'::jsonb`],
  ['hash', () => `hash = translate(hash, ${digits})`],
  ['previousHash', () => `previous_hash = translate(previous_hash, ${digits})`],
]

/** One mutation of a log of `length` entries, chosen by three numbers. */
export function mutation(kind: number, at: number, salt: number, length: number): Tampering {
  const sequence = (at % length) + 1
  const where = `WHERE sequence = ${sequence}`
  const choices = edits.length + 3
  const edit = edits[kind % choices]
  if (edit !== undefined)
    return { name: `update ${edit[0]}`, sql: `UPDATE audit.entries SET ${edit[1](salt)} ${where}`, sequence }
  const inner = Math.min(sequence, length - 1)
  switch ((kind % choices) - edits.length) {
    case 0:
      return { name: 'delete', sql: `DELETE FROM audit.entries WHERE sequence = ${inner}`, sequence: inner + 1 }
    case 1:
      return {
        name: 'insert',
        sql: `UPDATE audit.entries SET sequence = sequence + ${aside} WHERE sequence >= ${sequence};
          UPDATE audit.entries SET sequence = sequence - ${aside - 1} WHERE sequence > ${aside};
          INSERT INTO audit.entries SELECT ${sequence}, at, action, actor, namespace, object, outcome, 'put in', details, previous_hash,
            translate(hash, ${digits}) FROM audit.entries WHERE sequence = ${sequence + 1}`,
        sequence,
      }
    default:
      return {
        name: 'reorder',
        sql: `UPDATE audit.entries SET sequence = sequence + ${aside} WHERE sequence IN (${inner}, ${inner + 1});
          UPDATE audit.entries SET sequence = CASE sequence WHEN ${aside + inner} THEN ${inner + 1} ELSE ${inner} END
            WHERE sequence > ${aside}`,
        sequence: inner,
      }
  }
}

/** Runs what an owner of the database may run and nobody else. */
export async function tamper(database: Database, sql: string): Promise<void> {
  await database.pool.query(`ALTER TABLE audit.entries DISABLE TRIGGER ALL; ${sql}; ALTER TABLE audit.entries ENABLE TRIGGER ALL`)
}
