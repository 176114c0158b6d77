import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from './entry.ts'
import { entryTable, entryText } from './words.ts'

const entry: Entry = {
  sequence: 12_345,
  at: '2026-11-28T13:58:12.345Z',
  action: 'token.delivered',
  actor: 'system:serviceaccount:acme:ci',
  object: 'RepositoryGrant/acme/read-shop',
  outcome: 'allowed',
  reason: 'builds of the shop, every night, as long as nobody objects',
  details: { token: 't-1', repositoryIds: [1, 2], permissions: { contents: 'read' } },
  previousHash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
}

test('a row says who, what and about what in 100 columns', () => {
  expect(entryTable([entry], true).split('\n')).toEqual([
    'SEQUENCE  AT (UTC)             WHO      WHAT                 OBJECT          WHY',
    '12345     2026-11-28 13:58:12  acme/ci  token.delivered  ok  acme/read-shop  builds of the shop, ev…',
  ])
  const person = { ...entry, actor: 'github|github.com|42', details: { login: 'gary' } }
  expect(entryTable([person], false)).toContain('  gary (42)  ')
  // A login of somebody else is not the actor's.
  expect(entryTable([{ ...person, details: { login: 'olivia', person: 'github|github.com|1' } }], false)).toContain(
    ' github.com/42 ',
  )
})

test('no row is wider, whatever outsiders write, and none moves the cursor', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(fc.record({ action: text, actor: text, object: text, reason: text, outcome: text }), change => {
      for (const row of entryTable([{ ...entry, ...change }], true).split('\n')) {
        expect(row.length).toBeLessThanOrEqual(100)
        expect(row).not.toMatch(/\p{Cc}/u)
      }
    }),
  )
})

test('one entry in words has every fact of it', () => {
  const text = entryText(entry, 'A token was passed to its subject.', 'The grant was checked.')
  for (const part of ['A token was passed', '12345', 'system:serviceaccount:acme:ci', 'contents: read', '1, 2', 'b'.repeat(64)])
    expect(text).toContain(part)
})
