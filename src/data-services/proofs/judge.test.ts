import { expect, test } from 'vitest'
import { judge, type ProofFacts } from './judge.ts'

const expected = { login: 'l', role: 'o' }
const good: ProofFacts = {
  refused: undefined,
  actsAs: 'o',
  canWrite: true,
  canStore: true,
  canOwn: true,
  attributes: [],
  memberships: ['l', 'o'],
  entered: [],
}
const reads: ProofFacts = { ...good, canWrite: false, canStore: false, canOwn: false }

test('what was asked for, and nothing else', () => {
  expect(judge('ReadWrite', expected, good)).toEqual({ kind: 'proven' })
  expect(judge('ReadOnly', expected, reads)).toEqual({ kind: 'proven' })
})

test.each<[string, ProofFacts, RegExp]>([
  ['an attribute', { ...good, attributes: ['createdb'] }, /createdb/],
  ['another role', { ...good, memberships: ['l', 'o', 'pg_execute_server_program'] }, /rights of 1 other/],
  ['another database', { ...good, entered: ['postgres'] }, /enter 1 other/],
])('%s more is too much', (_, facts, message) => {
  expect(judge('ReadWrite', expected, facts)).toEqual({ kind: 'wider', message: expect.stringMatching(message) })
})

test('a reader neither writes nor takes the owner’s role', () => {
  expect(judge('ReadOnly', expected, { ...reads, canWrite: true })).toMatchObject({ kind: 'wider' })
  expect(judge('ReadOnly', expected, { ...reads, canStore: true })).toMatchObject({ kind: 'wider' })
  expect(judge('ReadOnly', expected, { ...reads, canOwn: true })).toMatchObject({ kind: 'wider' })
})

test.each<[string, ProofFacts]>([
  ['it is refused', { ...good, refused: 'password authentication failed' }],
  ['it acts as itself', { ...good, actsAs: 'l' }],
  ['it cannot write', { ...good, canWrite: false }],
])('%s: not what was asked for', (_, facts) => {
  expect(judge('ReadWrite', expected, facts)).toMatchObject({ kind: 'narrower' })
})
