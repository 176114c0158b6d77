// A database that lost its last second, as after a failover to a copy that lagged: what the processes that knew more say and
// do. The copy is made and put in the place of the original by PostgreSQL itself, while the stores stay open.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import { createProductionDatabase, type ProductionDatabase } from '../../../test/fixtures/production-database.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { verifyLog } from '../audit/testing/verify-log.ts'
import { connectServer, type Database } from '../database/database.ts'
import { openBrokerStore, openControllersStore } from '../open-store.ts'
import type { ControllersStore } from '../store.ts'

const withoutServer = process.env['SEKISHO_TEST_POSTGRES'] === 'skip'
const day = 86_400_000

let postgres: TestPostgres
let server: Database
beforeAll(async () => {
  if (withoutServer) return
  postgres = await startPostgres()
  server = connectServer(postgres.url('postgres'), silentLog)
})
afterAll(async () => {
  await server?.close()
  await postgres?.stop()
})

/** Nobody is connected while `work` runs, and nobody can connect. */
async function alone(name: string, work: () => Promise<unknown>): Promise<void> {
  await server.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await server.pool.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name])
  await work()
  await server.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
}

async function copied(database: ProductionDatabase): Promise<() => Promise<void>> {
  const copy = `${database.name}_copy`
  await alone(database.name, () => server.pool.query(`CREATE DATABASE ${copy} TEMPLATE ${database.name}`))
  return () =>
    alone(database.name, async () => {
      await server.pool.query(`ALTER DATABASE ${database.name} RENAME TO ${database.name}_lost`)
      await server.pool.query(`ALTER DATABASE ${copy} RENAME TO ${database.name}`)
    })
}

const intent = (name: string) => ({
  cacheKey: name,
  installation: { host: 'github.localhost', appId: 1, installationId: 2 },
  api: 'https://api.github.example',
  grantUid: `uid-of-${name}`,
  grantName: name,
  subject: { kind: 'ServiceAccount', namespace: 'acme', name: 'runner', uid: 'u' },
  repositoryIds: [1],
  permissions: { contents: 'read' },
})

async function mint(store: ControllersStore, name: string): Promise<string> {
  const id = await store.tokens.intend(intent(name))
  const expiresAt = new Date(Date.now() + day)
  await store.tokens.recordMinted(id, { token: new SecretString(`ghs_${name}`), expiresAt, repositoryIds: [1], permissions: {} })
  const object = `RepositoryGrant/acme/${name}`
  const event = { action: 'token.minted', actor: 'x', namespace: 'acme', object, outcome: 'allowed', reason: 'z' } as const
  await store.audit.append({ ...event, details: { token: id } })
  await store.tokens.recordDelivered(id)
  return id
}

/** The pool still has connections that the server has ended: as the probe does, it asks until one answers. */
async function untilHealthy(store: { readonly healthy: () => Promise<boolean> }): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await store.healthy())) if (Date.now() > end) throw new Error('the store did not become healthy again')
}

describe.skipIf(withoutServer)('a database that lost its last second', () => {
  test('is noticed, recorded and contradicted by the checkpoint; its tokens are revoked, and ended ones stay ended', async () => {
    const database = await createProductionDatabase(postgres)
    await database.migrate()
    const store = await openControllersStore(database.options('desk'))
    const broker = await openBrokerStore(database.options('broker'))
    const kept = await mint(store, 'kept')
    const ended = await mint(store, 'ended')
    await database.close()
    const failOver = await copied(database)
    await untilHealthy(store)
    await untilHealthy(broker)

    // The last second: it will be gone.
    const lost = await mint(store, 'lost')
    const revoked = await mint(store, 'revoked')
    await store.tokens.markRevoking([revoked], 'the grant ended')
    await store.tokens.markRevoked(revoked, 'the grant ended')
    await store.tokens.markRevoking([ended], 'the grant ended')
    const checkpoint = await store.audit.head()
    expect(checkpoint.sequence).toBe(4)
    await failOver()

    await untilHealthy(store)
    await untilHealthy(broker)
    const [loss, ...others] = await store.audit.list({ action: 'audit-log.shortened', limit: 10 })
    // By the process that had written the entries, and once.
    expect(others).toEqual([])
    expect(loss).toMatchObject({
      sequence: 3,
      details: { foundSequence: 2, knownSequence: 4, knownHash: checkpoint.hash, lostEntries: 2 },
    })
    expect(loss?.details['lost']).toEqual([
      `3 token.minted RepositoryGrant/acme/lost ${lost}`,
      `4 token.minted RepositoryGrant/acme/revoked ${revoked}`,
    ])
    // The log by itself is whole; what was kept outside of the database says that it is not the one that was.
    for (const reason of ['next', 'and next'])
      await broker.audit.append({ action: 'token.minted', actor: 'x', object: 'y', outcome: 'allowed', reason, details: {} })
    expect(await verifyLog(broker.audit)).toMatchObject({ ok: true, entries: 5 })
    expect(await verifyLog(broker.audit, checkpoint)).toMatchObject({ ok: false, sequence: 4 })

    const revoking = async () => (await store.tokens.revoking()).map(({ grantName, token }) => [grantName, token.reveal()]).sort()
    await waitUntil('both tokens to be revoked', async seen => seen(await revoking()).length >= 2)
    expect(await revoking()).toEqual([
      ['ended', 'ghs_ended'],
      ['lost', 'ghs_lost'],
    ])
    expect((await store.tokens.findLive('kept', 0))?.id).toBe(kept)
    expect(await store.tokens.findLive('lost', 0)).toBeUndefined()
    await store.close()
    await broker.close()
  })
})
