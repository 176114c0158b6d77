// By what entries are found: keys, hashes and times, in a log that is new and in one that was there before the index.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, type TestDatabase } from '../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { connectServer, type Database, openEmbedded } from '../database/database.ts'
import { migrate, readMigrations } from '../database/migrate.ts'
import { type AuditLog, createAuditLog } from './audit-log.ts'
import type { AuditQuery } from './audit-rows.ts'
import { verifyLog } from './testing/verify-log.ts'

const dave = 'github|github.localhost|1002'

function record(object: string, details: AuditRecord['details'], change: Partial<AuditRecord> = {}): AuditRecord {
  const about = { action: 'token.delivered', actor: 'system:serviceaccount:acme:ci', namespace: 'acme' } as const
  return { ...about, object, outcome: 'allowed', reason: 'a test', details, ...change }
}

/** One of each shape that details have had. */
const former: readonly AuditRecord[] = [
  record(
    'decided',
    { grantUid: 'g-1', repositories: [{ id: 4001, fullName: 'acme/shop' }] },
    { action: 'grant.decided', actor: dave },
  ),
  record('delivered', { grantUid: 'g-1', repositoryIds: [4001, 4002] }),
  record('probe', { grantUid: '', repositories: ['acme/shop'] }),
  record('webhook', { repositoryId: 4001 }, { action: 'webhook.received', actor: 'github|github.localhost|7' }),
  record('other', { repositoryIds: [40011], repositories: 'strange', uid: 'u-9' }),
]
const later: readonly AuditRecord[] = [
  record('minted', { grantUid: 'g-1', repositoryIds: [4001], person: dave, hashedToken: 'aGFzaA==' }, { action: 'token.minted' }),
  record(
    'ended',
    { grantUid: 'g-1', uid: 'g-1', doer: dave, repositoryIds: [4001] },
    { action: 'grant.ended', actor: 'sekisho:x' },
  ),
]

describe.each(databases)('a log on $name that began before the index', ({ start }) => {
  let place: TestDatabase
  let database: Database
  let log: AuditLog
  beforeAll(async () => {
    place = await start()
    const { url } = place.location
    database = url === undefined ? await openEmbedded('memory://', silentLog) : connectServer(url, silentLog)
    await migrate(database.pool, silentLog, readMigrations().slice(0, 1))
    log = createAuditLog({ pool: database.pool, clock: systemClock, log: silentLog })
    for (const one of former) await log.append(one)
    await migrate(database.pool, silentLog)
    for (const one of later) await log.append(one)
  })
  afterAll(async () => {
    await database?.close()
    await place?.stop()
  })
  const found = async (query: Partial<AuditQuery>) => (await log.list({ limit: 10, ...query })).map(({ object }) => object)

  test.each<readonly [string, Partial<AuditQuery>, readonly string[]]>([
    [
      'a repository, whatever the shape of the record',
      { repositoryId: 4001 },
      ['ended', 'minted', 'webhook', 'delivered', 'decided'],
    ],
    ['a repository whose id begins like another one', { repositoryId: 40011 }, ['other']],
    ['a repository that nothing is about', { repositoryId: 9 }, []],
    ['a user who acted, in whose name it was, or who ended it', { user: dave }, ['ended', 'minted', 'decided']],
    ['a grant', { uid: 'g-1' }, ['ended', 'minted', 'delivered', 'decided']],
    ['another object', { uid: 'u-9' }, ['other']],
    ['all that is given', { uid: 'g-1', user: dave, action: 'grant.ended' }, ['ended']],
    ['the hash of a token', { hashedToken: 'aGFzaA==' }, ['minted']],
    ['the hash of no token', { hashedToken: 'aGFzaAA=' }, []],
    ['an interval', { since: new Date(0), until: new Date('2999-01-01'), repositoryId: 4002 }, ['delivered']],
    ['a time before all', { until: new Date(0) }, []],
  ])('is found by %s', async (_by, query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  test('is found in pages, forwards and backwards', async () => {
    expect(await found({ repositoryId: 4001, after: 0, limit: 2 })).toEqual(['decided', 'delivered'])
    expect(await found({ repositoryId: 4001, after: 2, limit: 2 })).toEqual(['webhook', 'minted'])
    expect(await found({ repositoryId: 4001, before: 6, limit: 2 })).toEqual(['webhook', 'delivered'])
  })

  test.each<Partial<AuditQuery>>([{}, { after: 2, limit: 3 }, { repositoryId: 4001 }, { uid: 'nothing' }])(
    'has as lines what it has as entries: %j',
    async query => {
      const entries = await log.list({ limit: 10, ...query })
      const { pieces, count, last } = await log.lines({ limit: 10, ...query })
      const lines = pieces.join('').split('\n').slice(0, -1)
      expect(lines.map(line => JSON.parse(line))).toEqual(entries)
      expect({ count, last }).toEqual({ count: entries.length, last: entries.at(-1)?.sequence })
    },
  )

  test('has the same hashes', async () => {
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: former.length + later.length })
  })
})
