import { expect, test } from 'vitest'
import { isAtRest } from './decide.ts'

const plan = { name: 'small', limits: { connections: 5, storage: '1Gi' } } as const
const found = { own: true, mark: 'sekisho', connectionLimit: 10, isOpen: false }

test.each([
  ['as it is wanted', found, true],
  ['not there, or changed since', undefined, false],
  ['of somebody else', { ...found, own: false }, false],
  ['not complete', { ...found, mark: null }, false],
  ['kept, and used again', { ...found, mark: 'sekisho kept x 2026-01-01' }, false],
  ['of another plan', { ...found, connectionLimit: 12 }, false],
  ['open to every login', { ...found, isOpen: true }, false],
])('a database that is %s: %s rests: %s', (_, database, rests) => {
  expect(isAtRest(database, { plan })).toBe(rests)
})
