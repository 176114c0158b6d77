import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, openTestStore, type TestDatabase } from '../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { systemClock } from '../../lib/clock.ts'
import { emptyHead } from '../../lib/hash-chain/hash-chain.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { connectServer, type Database, openEmbedded } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { createAuditLog } from './audit-log.ts'
import { verifyLog } from './testing/verify-log.ts'

function record(reason: string, change: Partial<AuditRecord> = {}): AuditRecord {
  return {
    action: 'token.minted',
    actor: 'github|github.localhost|7',
    namespace: 'acme',
    object: 'RepositoryGrant/acme/read-shop',
    outcome: 'allowed',
    reason,
    details: { repositoryIds: [1, 2], permissions: { contents: 'read' } },
    ...change,
  }
}

describe.each(databases)('the audit log on $name', ({ start }) => {
  let place: TestDatabase
  let database: Database

  beforeAll(async () => {
    place = await start()
    database =
      place.location.url === undefined ? await openEmbedded('memory://', silentLog) : connectServer(place.location.url, silentLog)
    await migrate(database.pool, silentLog)
  })
  afterAll(async () => {
    await database?.close()
    await place?.stop()
  })

  /** An intruder with the owner's password disables the trigger first. */
  async function tamper(sql: string): Promise<void> {
    await database.pool.query('ALTER TABLE audit.entries DISABLE TRIGGER ALL')
    await database.pool.query(sql)
    await database.pool.query('ALTER TABLE audit.entries ENABLE TRIGGER ALL')
  }
  async function freshLog(entries: number) {
    await tamper('TRUNCATE audit.entries')
    const log = createAuditLog({ pool: database.pool, clock: systemClock, log: silentLog })
    for (let index = 1; index <= entries; index += 1) await log.append(record(`entry ${index}`))
    return log
  }

  test('is empty, and its chain holds, before the first entry', async () => {
    const log = await freshLog(0)
    expect(await log.head()).toEqual(emptyHead)
    expect(await verifyLog(log)).toEqual({ ok: true, entries: 0, head: emptyHead })
  })

  test('chains every entry to the one before it', async () => {
    const log = await freshLog(3)
    const [first, second, third] = await log.list({ after: 0, limit: 10 })
    expect([first?.sequence, second?.sequence, third?.sequence]).toEqual([1, 2, 3])
    expect(first?.previousHash).toBe(emptyHead.hash)
    expect(third?.previousHash).toBe(second?.hash)
    expect(await verifyLog(log)).toEqual({ ok: true, entries: 3, head: { sequence: 3, hash: third?.hash } })
  })

  test('chains 500 concurrent appends without a gap, in few transactions', async () => {
    const log = await freshLog(0)
    const before = await transactions()
    const entries = await Promise.all(Array.from({ length: 500 }, (_, index) => log.append(record(`entry ${index}`))))
    expect(new Set(entries.map(entry => entry.sequence)).size).toBe(500)
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 500 })
    expect((await transactions()) - before).toBeLessThan(50)
  })

  test('leaves no gap when another writer is faster, even repeatedly', async () => {
    const [one, other] = [await freshLog(1), createAuditLog({ pool: database.pool, clock: systemClock, log: silentLog })]
    for (let turn = 0; turn < 5; turn += 1) {
      await one.append(record(`one ${turn}`))
      await other.append(record(`other ${turn}`))
    }
    await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? one : other).append(record(`${index}`))))
    expect(await verifyLog(one)).toMatchObject({ ok: true, entries: 111 })
  })

  test('what must be recorded once is recorded once, also by two writers at the same time', async () => {
    const [one, other] = [await freshLog(3), createAuditLog({ pool: database.pool, clock: systemClock, log: silentLog })]
    const once = {
      ...record('recorded once'),
      namespace: 'acme',
      action: 'tenant.onboarded',
      details: { onboarding: 'one' },
    } as const
    const alreadyRecorded = (id: string) => (earlier: readonly AuditRecord[]) =>
      earlier.some(({ details }) => details['onboarding'] === id)
    await Promise.all(
      [one, other, one, other].flatMap(log => [log.appendOnce(once, alreadyRecorded('one')), log.append(record('between'))]),
    )
    await other.appendOnce({ ...once, details: { onboarding: 'two' } }, alreadyRecorded('two'))
    await one.appendOnce({ ...once, namespace: 'globex' }, alreadyRecorded('one'))
    const entries = await one.list({ action: 'tenant.onboarded', after: 0, limit: 10 })
    expect(entries.map(({ namespace, details }) => [namespace, details['onboarding']])).toEqual([
      ['acme', 'one'],
      ['acme', 'two'],
      ['globex', 'one'],
    ])
    expect(entries.at(-1)?.sequence).toBe(3 + 4 + 3)
    expect(await verifyLog(one)).toMatchObject({ ok: true, entries: 10 })
  })

  test('when reading the earlier entries fails, nothing is appended and the turn is released', async () => {
    const log = await freshLog(1)
    const broken = (): boolean => {
      throw new Error('cannot compare')
    }
    await expect(log.appendOnce({ ...record('never'), namespace: 'acme' }, broken)).rejects.toThrow('cannot compare')
    expect(await log.append(record('next'))).toMatchObject({ sequence: 2 })
  })

  test('says that the newest entries are gone, when it appends and when it is examined, once', async () => {
    const log = await freshLog(3)
    const [, second, third] = await log.list({ after: 0, limit: 3 })
    await tamper('DELETE FROM audit.entries WHERE sequence > 1')
    expect(await log.append(record('after the loss'))).toMatchObject({ sequence: 3, reason: 'after the loss' })
    const [loss] = await log.list({ action: 'audit-log.shortened', limit: 2 })
    expect(loss).toMatchObject({
      sequence: 2,
      outcome: 'failed',
      details: { foundSequence: 1, knownSequence: 3, knownHash: third?.hash, lostFrom: second?.sequence, lostEntries: 2 },
    })
    expect(loss?.details['lost']).toEqual([
      '2 token.minted RepositoryGrant/acme/read-shop',
      '3 token.minted RepositoryGrant/acme/read-shop',
    ])
    await tamper('DELETE FROM audit.entries WHERE sequence = 3')
    await log.examine()
    await log.examine()
    expect((await log.list({ after: 0, limit: 10 })).map(({ action }) => action)).toEqual([
      'token.minted',
      'audit-log.shortened',
      'audit-log.shortened',
    ])
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 3 })
  })

  test('says that its entries are gone when another process has taken their numbers', async () => {
    const log = await freshLog(3)
    const other = createAuditLog({ pool: database.pool, clock: systemClock, log: silentLog })
    await tamper('DELETE FROM audit.entries WHERE sequence > 1')
    for (const reason of ['a', 'b', 'c']) await other.append(record(reason))
    await log.appendOnce({ ...record('mine'), namespace: 'acme' }, () => false)
    const [loss] = await log.list({ action: 'audit-log.shortened', limit: 2 })
    expect(loss).toMatchObject({ sequence: 5, details: { foundSequence: 4, lostEntries: 2 } })
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 6 })
  })

  async function transactions(): Promise<number> {
    const answer = await database.pool.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
    return Number(answer.rows[0]?.id)
  }

  test.each([
    ['an edited text', `UPDATE audit.entries SET reason = 'nothing to see' WHERE sequence = 3`, 3],
    ['an edited detail', `UPDATE audit.entries SET details = '{"repositoryIds":[1]}' WHERE sequence = 2`, 2],
    ['an edited time', `UPDATE audit.entries SET at = at + interval '1 millisecond' WHERE sequence = 4`, 4],
    ['an edited namespace', `UPDATE audit.entries SET namespace = NULL WHERE sequence = 2`, 2],
    ['a deleted entry', 'DELETE FROM audit.entries WHERE sequence = 2', 3],
    ['the first entry deleted', 'DELETE FROM audit.entries WHERE sequence = 1', 2],
    [
      'two entries swapped',
      `UPDATE audit.entries SET sequence = sequence + 100 WHERE sequence IN (2, 3);
       UPDATE audit.entries SET sequence = 2 WHERE sequence = 103; UPDATE audit.entries SET sequence = 3 WHERE sequence = 102`,
      2,
    ],
    [
      'an entry put in',
      `UPDATE audit.entries SET sequence = sequence + 1 WHERE sequence = 5;
       INSERT INTO audit.entries SELECT 5, at, action, actor, namespace, object, outcome, reason, details, hash, repeat('1', 64)
       FROM audit.entries WHERE sequence = 4`,
      5,
    ],
  ])('finds %s', async (_name, sql, sequence) => {
    const log = await freshLog(5)
    await tamper(sql)
    expect(await verifyLog(log)).toMatchObject({ ok: false, sequence })
  })

  test('finds a cut tail only with a checkpoint, and names what is gone', async () => {
    const log = await freshLog(5)
    const checkpoint = await log.head()
    await tamper('DELETE FROM audit.entries WHERE sequence > 3')
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 3 })
    expect(await verifyLog(log, checkpoint)).toMatchObject({ ok: false, sequence: 4 })
  })

  test('finds a recomputed chain by the checkpoint', async () => {
    const old = await freshLog(3)
    const checkpoint = await old.head()
    const log = await freshLog(4)
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 4 })
    expect(await verifyLog(log, checkpoint)).toMatchObject({ ok: false, sequence: 3, problem: 'differs from the checkpoint' })
  })

  test.each(['UPDATE audit.entries SET reason = $$x$$', 'DELETE FROM audit.entries', 'TRUNCATE audit.entries'])(
    'refuses "%s" even to the owner',
    async sql => {
      await freshLog(1)
      await expect(database.pool.query(sql)).rejects.toThrow('append only')
    },
  )

  test('lists by namespace, action, actor, outcome, object and repository, forwards and backwards', async () => {
    const log = await freshLog(2)
    await log.append(record('other tenant', { namespace: 'globex', actor: 'sekisho:desk', action: 'token.revoked' }))
    expect((await log.list({ namespace: 'globex', limit: 10 })).map(entry => entry.sequence)).toEqual([3])
    expect((await log.list({ action: 'token.revoked', limit: 10 })).map(entry => entry.sequence)).toEqual([3])
    expect((await log.list({ actor: 'sekisho:desk', limit: 10 })).map(entry => entry.sequence)).toEqual([3])
    await log.append(
      record('refused', { outcome: 'denied', object: 'RepositoryGrant/acme/write', details: { repositoryIds: [21, 3] } }),
    )
    expect((await log.list({ outcome: 'denied', limit: 10 })).map(entry => entry.sequence)).toEqual([4])
    expect((await log.list({ object: 'RepositoryGrant/acme/write', limit: 10 })).map(entry => entry.sequence)).toEqual([4])
    expect((await log.list({ repositoryId: 2, limit: 10 })).map(entry => entry.sequence)).toEqual([3, 2, 1])
    expect((await log.list({ repositoryId: 21, namespace: 'globex', limit: 10 })).map(entry => entry.sequence)).toEqual([])
    expect((await log.list({ before: 4, limit: 2 })).map(entry => entry.sequence)).toEqual([3, 2])
    expect((await log.list({ before: 3, limit: 1 })).map(entry => entry.sequence)).toEqual([2])
    expect((await log.list({ after: 1, limit: 1 })).map(entry => entry.sequence)).toEqual([2])
    await expect(log.list({ limit: 1001 })).rejects.toThrow('limit')
  })

  test('stores a record with texts from outside, repaired and without tokens', async () => {
    const log = await freshLog(0)
    const token = `ghs_${'a'.repeat(36)}`
    await log.append(record(`bad \0 text \ud800 with ${token}`, { details: { header: `Bearer ${token}`, 'k\0': 'v' } as object }))
    const [entry] = await log.list({ limit: 1 })
    expect(JSON.stringify(entry)).not.toContain(token)
    expect(entry?.reason).toBe('bad \uFFFD text \uFFFD with [redacted]')
    expect(await verifyLog(log)).toMatchObject({ ok: true })
  })

  test('refuses a record without an actor or without a canonical form, and continues', async () => {
    const log = await freshLog(0)
    await expect(log.append(record('no actor', { actor: ' ' }))).rejects.toThrow('actor is empty')
    await expect(log.append(record('fraction', { details: { host: 0.5 } }))).rejects.toThrow('canonical')
    await expect(log.append(record('huge', { details: { repositoryIds: Array(9000).fill(100) } }))).rejects.toThrow('bytes')
    await log.append(record('good'))
    expect(await verifyLog(log)).toMatchObject({ ok: true, entries: 1 })
  })
})

describe.each(databases.filter(({ name }) => name === 'PostgreSQL'))(
  'the audit log of several processes on $name',
  ({ start }) => {
    let place: TestDatabase
    beforeAll(async () => {
      place = await start()
    })
    afterAll(() => place?.stop())

    test('has one order when three processes append at once', async () => {
      const stores = [
        await openTestStore(place.location),
        await openTestStore(place.location),
        await openTestStore(place.location),
      ] as const
      await Promise.all(
        stores.flatMap(store => Array.from({ length: 60 }, (_, index) => store.audit.append(record(`entry ${index}`)))),
      )
      expect(await verifyLog(stores[0].audit)).toMatchObject({ ok: true, entries: 180 })
      await Promise.all(stores.map(store => store.close()))
    })

    test('opens while another process migrates', async () => {
      const owner = new pg.Client({ connectionString: place.location.url?.reveal() })
      await owner.connect()
      await owner.query('CREATE DATABASE fresh')
      await owner.end()
      const url = place.postgres?.url('fresh')
      if (url === undefined) throw new Error('this test needs a server')
      const stores = await Promise.all([openTestStore({ url }), openTestStore({ url }), openTestStore({ url })])
      expect(await Promise.all(stores.map(store => store.healthy()))).toEqual([true, true, true])
      await Promise.all(stores.map(store => store.close()))
    })
  },
)
