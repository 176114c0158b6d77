import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { emptyHead } from '../../lib/hash-chain/hash-chain.ts'
import { type AuditTexts, entryLine, entryOf, nextEntries } from './audit-chain.ts'

const record: AuditRecord = {
  action: 'token.minted',
  actor: 'github|github.com|7',
  object: 'RepositoryGrant/acme/read-shop',
  outcome: 'allowed',
  reason: 'the grant allows it',
  details: { token: 1, host: [null, true] },
}

function textsAt(at: string, namespace: string | null = null): AuditTexts {
  const { action, actor, object, outcome, reason } = record
  return [
    '1',
    at,
    action,
    actor,
    namespace,
    object,
    outcome,
    reason,
    '{"host": [null, true], "token": 1}',
    emptyHead.hash,
    'f'.repeat(64),
  ]
}

/**
 * As PostgreSQL writes a timestamp in a session in UTC: without trailing zeros in the fraction, and without a fraction of zeros
 * only.
 */
function writtenByPostgres(time: Date): string {
  const [day, clock = ''] = time.toISOString().slice(0, -1).split('T')
  return `${day} ${clock.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')}+00`
}

describe('rows of the log as texts', () => {
  test('a timestamp reads back to the millisecond that was written', () => {
    const times = fc.date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2099-12-31T23:59:59Z'), noInvalidDate: true })
    fc.assert(
      fc.property(times, time => {
        expect(entryOf(textsAt(writtenByPostgres(time))).at).toBe(time.toISOString())
      }),
    )
  })

  test.each([
    ['2026-02-03 10:20:30+00', '2026-02-03T10:20:30.000Z'],
    ['2026-02-03 10:20:30.5+00', '2026-02-03T10:20:30.500Z'],
    ['2026-02-03 10:20:30.05+00', '2026-02-03T10:20:30.050Z'],
    ['2026-02-03 12:20:30.123+02', '2026-02-03T10:20:30.123Z'],
  ])('%s is %s', (text, at) => {
    expect(entryOf(textsAt(text)).at).toBe(at)
  })

  test('a line of JSON is one line, and says the same as the entry, whatever is in its texts', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\n', '\u0085', '\u2028', '\ud800', '}'))
    // Names of fields have no escapes: with one, JSON.parse of Node.js 24 may take the name of an object that it parsed before.
    const json = fc.dictionary(fc.stringMatching(/^[A-Za-z_]{1,8}$/), fc.oneof(text, fc.integer(), fc.array(text)), {
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(fc.array(text, { minLength: 8, maxLength: 8 }), fc.boolean(), json, (texts, isOfTenant, details) => {
        const [action = '', actor = '', namespace = '', object = '', outcome = '', reason = '', before = '', hash = ''] = texts
        const at = '2026-02-03 10:20:30.5+00'
        const scope = isOfTenant ? namespace : null
        const written = JSON.stringify(details)
        const row: AuditTexts = ['7', at, action, actor, scope, object, outcome, reason, written, before, hash]
        const line = entryLine(row)
        expect(line.indexOf('\n')).toBe(line.length - 1)
        expect(line.slice(0, -1)).toBe(JSON.stringify(entryOf(row)))
      }),
    )
  })

  test('an absent namespace is absent, an empty one is empty', () => {
    expect(entryOf(textsAt('2026-02-03 10:20:30+00'))).not.toHaveProperty('namespace')
    expect(entryOf(textsAt('2026-02-03 10:20:30+00', '')).namespace).toBe('')
  })

  test('the order of keys that the database chose does not change the hash', () => {
    const [entry] = nextEntries(emptyHead, [{ record, at: new Date('2026-02-03T10:20:30Z') }])
    const read = entryOf(textsAt('2026-02-03 10:20:30+00'))
    expect({ ...read, hash: entry?.hash }).toEqual(entry)
  })
})
