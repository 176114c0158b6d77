import { expect, test } from 'vitest'
import { parseUserSubject, userSubject } from './names.ts'

test('a subject reads back as host and id', () => {
  expect(parseUserSubject(userSubject('github.com', 42))).toEqual({ host: 'github.com', userId: 42 })
  expect(parseUserSubject(userSubject('10.88.0.1:4000', 1))).toEqual({ host: '10.88.0.1:4000', userId: 1 })
})

test.each([
  'system:serviceaccount:acme:default',
  'github|github.com|042',
  'github|github.com|',
  'github||1',
  'github|github.com|1|2',
  'github|GitHub.com|1',
  'x github|github.com|1',
])('%s is no person', subject => {
  expect(parseUserSubject(subject)).toBeUndefined()
})
