import { expect, test } from 'vitest'
import { groups, isGroup, parseUserSubject, userSubject } from './names.ts'

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
  // JavaScript would round it to 9007199254740992.
  'github|github.com|9007199254740993',
  'x github|github.com|1',
])('%s is not a person', subject => {
  expect(parseUserSubject(subject)).toBeUndefined()
})

test('groups are recognized by their spelling, which has numbers and no names', () => {
  for (const group of [groups.owners('github.com', 7), groups.members('10.88.0.1:4000', 7), groups.team('github.com', 7, 11)])
    expect(isGroup(group)).toBe(true)
  for (const other of [
    'github|github.com|org|acme|owners',
    'github|github.com|org|7|team|developers',
    'github|github.com|org|7',
    'github|github.com|42',
    'system:masters',
  ])
    expect(isGroup(other)).toBe(false)
})
