import { expect, test } from 'vitest'
import { createLastChecks } from './last-checks.ts'

test('forgets the oldest check beyond 100 000 RemoteSyncs', () => {
  const checks = createLastChecks()
  for (let index = 0; index <= 100_000; index++) checks.set(`uid-${index}`, new Date(index))
  expect(checks.get('uid-0')).toBeUndefined()
  expect(checks.get('uid-1')).toEqual(new Date(1))
  checks.delete('uid-1')
  expect(checks.get('uid-1')).toBeUndefined()
})
