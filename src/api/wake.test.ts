import { expect, test } from 'vitest'
import { pullRequestOfWake, type WokenPullRequest, wakeText } from './wake.ts'

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
