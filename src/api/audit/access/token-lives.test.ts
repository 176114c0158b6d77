// Which tokens are live, from records as the token desk and the platform itself write them.
import { describe, expect, test } from 'vitest'
import type { LogEntry } from './log-entry.ts'
import { deliveriesOf, holderText, liveTokens, liveTokensSince, tokenLives } from './token-lives.ts'

const now = new Date('2026-11-28T14:00:00Z')
const minute = (offset: number): string => new Date(now.getTime() + offset * 60_000).toISOString()

let sequence = 0
function entry(action: string, at: number, details: object, more: object = {}): LogEntry {
  sequence += 1
  const actor = 'system:serviceaccount:acme:ci'
  const object = 'RepositoryGrant/acme/read'
  const record = { action, actor, object, namespace: 'acme', outcome: 'allowed', reason: 'r', details }
  return { sequence, at: minute(at), ...record, ...more }
}
const subject = { kind: 'ServiceAccount', name: 'ci', uid: 's' }
const minted = (token: string, at: number, more: object = {}) =>
  entry('token.minted', at, { token, subject, repositoryIds: [4001], expiresAt: minute(at + 60), ...more })
/** As the platform records what it uses itself: without a subject, and without an end. */
const ownUse = (token: string, at: number) =>
  entry('token.minted', at, { token, repositoryIds: [4001] }, { actor: 'sekisho:probe', object: 'Installation/acme/acme' })
const revoked = (token: string, at: number, outcome = 'allowed') => entry('token.revoked', at, { token }, { outcome })
const delivered = (token: string, at: number, pod: string, more: object = {}) =>
  entry('token.delivered', at, { token, pod: { name: pod }, address: '10.0.0.7', ...more })

const live = (...entries: readonly LogEntry[]) => liveTokens(entries, now).map(({ token }) => token)

describe('a token is live', () => {
  test('from its creation until the end that GitHub said', () => {
    expect(live(minted('a', -59), minted('b', -60), minted('c', -64, { expiresAt: minute(1) }))).toEqual(['a', 'c'])
  })

  test('until GitHub revoked it: an attempt that failed is no end', () => {
    const entries = [minted('a', -10), minted('b', -9), revoked('a', -5, 'failed'), revoked('b', -4)]
    expect(live(...entries)).toEqual(['a'])
    expect(live(...entries, revoked('a', -3))).toEqual([])
  })

  test('for an hour where the log does not say when it ends: what the platform used and GitHub did not revoke', () => {
    expect(live(ownUse('a', -59), ownUse('b', -60), ownUse('c', -1), revoked('c', -1))).toEqual(['a'])
  })

  test('whatever other records without an id say', () => {
    const nameless = () => entry('token.minted', -1, { expiresAt: minute(59) })
    expect(live(nameless(), nameless(), entry('token.revoked', 0, {}))).toHaveLength(2)
  })

  test('and its creation is not older than what has to be read', () => {
    const since = liveTokensSince(now).getTime()
    // A clock of GitHub that is ahead by five minutes.
    expect(live(minted('a', -64.9, { expiresAt: minute(0.1) }))).toEqual(['a'])
    expect(Date.parse(minute(-64.9))).toBeGreaterThan(since)
  })
})

test('ends that were read apart count, also twice', () => {
  const [a, b] = [minted('a', -10), minted('b', -9)]
  const end = revoked('a', -8)
  expect(live(a, end, b, end)).toEqual(['b'])
  expect(live(a, b, end)).toEqual(['b'])
})

test('deliveries to one pod are one, with the number of the last entry', () => {
  const last = delivered('a', -5, 'one', { count: 4, until: minute(-2) })
  const [life] = tokenLives([minted('a', -10), delivered('a', -9, 'one'), delivered('a', -8, 'two'), last])
  expect(life?.deliveries).toMatchObject([
    { pod: 'one', times: 5, first: minute(-9), last: minute(-2) },
    { pod: 'two', times: 1 },
  ])
  expect(life && deliveriesOf(life)).toEqual({ times: 6, last: minute(-2), sequence: last.sequence })
  expect(deliveriesOf({ deliveries: [] })).toBeUndefined()
})

test('a token is for its subject, or for the part of the platform that used it', () => {
  const texts = tokenLives([minted('a', -2), ownUse('b', -1)]).map(holderText)
  expect(texts).toEqual(['ServiceAccount acme/ci', 'sekisho:probe'])
})
