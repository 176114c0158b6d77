// What is read of the log to say which tokens are live: bounded, from the newest entries on, and nothing beyond the scope.
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'
import { readLiveTokens } from './live-tokens.ts'

const now = new Date('2026-11-28T14:00:00Z')
const at = (secondsAgo: number): string => new Date(now.getTime() - secondsAgo * 1000).toISOString()

function entry(sequence: number, action: AuditEntry['action'], token: number, secondsAgo: number): AuditEntry {
  const details = { token: `t${token}`, repositoryIds: [4001] }
  const record = { action, actor: 'sekisho:test', object: 'x', outcome: 'allowed', reason: 'r', details } as const
  return { ...record, sequence, at: at(secondsAgo), previousHash: '', hash: '' } as AuditEntry
}

/** As the store answers without `after`: the newest first. */
function logOf(entries: readonly AuditEntry[]) {
  const asked: AuditQuery[] = []
  const list = async (query: AuditQuery) => {
    asked.push(query)
    const { before = Number.POSITIVE_INFINITY, action, actions, repositoryId, limit } = query
    return entries
      .filter(one => one.sequence < before && (action ?? one.action) === one.action && (actions?.includes(one.action) ?? true))
      .filter(({ details }) => repositoryId === undefined || JSON.stringify(details['repositoryIds']) === `[${repositoryId}]`)
      .toReversed()
      .slice(0, limit)
  }
  return { audit: { list }, asked }
}

test('a log that fits is read whole, the newest token first', async () => {
  const entries = [entry(1, 'token.minted', 1, 30), entry(2, 'token.minted', 2, 20), entry(3, 'token.minted', 3, 10)]
  const { audit } = logOf([...entries, entry(4, 'token.revoked', 2, 5)])
  const { live, mintedSince } = await readLiveTokens(audit, {}, now)
  expect(live.map(({ token }) => token)).toEqual(['t3', 't1'])
  expect(mintedSince).toBeUndefined()
})

test('of one with more, the newest part is read, and it is said from when on the answer is whole', async () => {
  const entries = Array.from({ length: 30_000 }, (_, index) => {
    const secondsAgo = 3000 - index / 10
    return index % 2 === 0
      ? entry(index + 1, 'token.minted', index, secondsAgo)
      : entry(index + 1, 'token.revoked', index % 6 === 1 ? index - 1 : -1, secondsAgo)
  })
  const { audit, asked } = logOf(entries)
  const { live, mintedSince } = await readLiveTokens(audit, {}, now)
  expect(asked).toHaveLength(20)
  expect(mintedSince).toBe(entries[10_000]?.at)
  expect(live).toHaveLength(10_000 - 3333)
  expect(live.every(({ mintedAt }) => mintedAt >= (mintedSince ?? ''))).toBe(true)
})

describe('asked about one repository', () => {
  const minted = [entry(1, 'token.minted', 1, 3000), entry(30_000, 'token.minted', 2, 1)] as const
  const nameless = (sequence: number, token: number, secondsAgo: number): AuditEntry => {
    const end = entry(sequence, 'token.revoked', token, secondsAgo)
    return { ...end, details: { ...end.details, repositoryIds: [] } }
  }

  test('an end that does not name the repository counts', async () => {
    const { audit } = logOf([...minted, nameless(30_001, 2, 0)])
    expect(await readLiveTokens(audit, {}, now, { repositoryId: 4001 })).toMatchObject({ live: [{ token: 't1' }] })
  })

  test('a token whose end may be among what was not read is left out', async () => {
    const ends = Array.from({ length: 20_001 }, (_, index) => nameless(index + 2, -1, 2000 - index / 100))
    const { audit } = logOf([minted[0], ...ends, minted[1]])
    const { live, mintedSince } = await readLiveTokens(audit, {}, now, { repositoryId: 4001 })
    expect(live.map(({ token }) => token)).toEqual(['t2'])
    expect(mintedSince).toBe(ends[1]?.at)
  })
})

test('every question stays within the scope, and goes back no further than tokens live', async () => {
  const { audit, asked } = logOf([])
  const since = new Date(now.getTime() - 1000)
  await readLiveTokens(audit, { namespace: 'acme', since }, now, { user: 'github|github.com|42', repositoryId: 4001 })
  expect(asked).toHaveLength(2)
  for (const query of asked) expect(query).toMatchObject({ namespace: 'acme', since })
  await readLiveTokens(audit, { namespace: 'acme', since: new Date(0) }, now)
  expect(asked.at(-1)).toMatchObject({ namespace: 'acme', since: new Date(now.getTime() - 65 * 60_000) })
})
