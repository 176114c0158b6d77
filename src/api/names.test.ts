import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  groups,
  isGroup,
  ownedName,
  parseUserSubject,
  previewName,
  pullRequestOfWake,
  userSubject,
  type WokenPullRequest,
  wakeText,
} from './names.ts'

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

test('a preview is named after its pipeline and its pull request', () => {
  expect(previewName('shop', 12)).toBe('shop-pr-12')
  expect(previewName('a-very-long-name-of-a-pipeline-of-the-shop', 12)).toMatch(/^a-very-long-name-of-a-pip-[0-9a-f]{8}-pr-12$/)
  expect(previewName('9lives', 12)).toMatch(/^p9lives-[0-9a-f]{8}-pr-12$/)
})

test('an owned Application is named after its owner and what it is for; what is no DNS label has a hash', () => {
  expect(ownedName('team', 'mia')).toBe('team-mia')
  expect(ownedName('team', 'Mia_Müller')).toMatch(/^team-mia-m-ller-[0-9a-f]{8}$/)
  expect(ownedName('team', 'mia-müller')).not.toBe(ownedName('team', 'mia-m-ller'))
  expect(ownedName('a-very-long-name-of-a-kind-of-the-team', 'somebody-with-a-long-name')).toMatch(/^[a-z][-a-z0-9]{0,39}$/)
})

/** Names that resemble each other: few characters, and long ones that differ at the end. */
const pipelineName = fc.oneof(
  fc.stringMatching(/^[a-c]([-.a-c1]{0,8}[a-c1])?$/),
  fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$/),
  fc.stringMatching(/^(shop|1)-pr-[12](-pr-[12])?$/),
  fc.integer({ min: 0, max: 20 }).map(end => `${'long-'.repeat(9)}${end}`),
)
const preview = fc.record({
  pipeline: pipelineName,
  number: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
})

test('names of previews are DNS labels of at most 40 characters, and no two previews of a namespace have the same', () => {
  fc.assert(
    fc.property(fc.array(preview, { minLength: 2, maxLength: 30 }), previews => {
      const names = new Map(previews.map(({ pipeline, number }) => [`${pipeline} ${number}`, previewName(pipeline, number)]))
      for (const name of names.values()) expect(name).toMatch(/^[a-z]([-a-z0-9]{0,38}[a-z0-9])$/)
      expect(new Set(names.values()).size).toBe(names.size)
    }),
    { numRuns: 500 },
  )
})

const receivedAt = new Date('2026-01-01T12:00:00.250Z')

test.each<[WokenPullRequest | undefined, string]>([
  [undefined, '2026-01-01T12:00:00.250Z/delivery-1'],
  [12, '2026-01-01T12:00:00.250Z/delivery-1/pull/12'],
  ['unknown', '2026-01-01T12:00:00.250Z/delivery-1/pull/unknown'],
])('a wake about %s is read as it was written', (pullRequest, text) => {
  const wake = wakeText({ receivedAt, deliveryId: 'delivery-1', pullRequest })
  expect(wake).toBe(text)
  expect(pullRequestOfWake(wake)).toBe(pullRequest)
})

test.each([
  '',
  'now',
  '2026-01-01T12:00:00Z/token-desk',
  'a/b/pull/',
  'a/b/pull/x',
  'a/b/pull/0',
  'a/b/c/pull/1',
  'a/b/pull/1/2',
])('%s is about no pull request alone', text => expect(pullRequestOfWake(text)).toBeUndefined())
