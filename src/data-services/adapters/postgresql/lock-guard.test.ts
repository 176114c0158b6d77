// One tenant takes every lock of a real server.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../../dev/postgres/start-postgres.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { instanceId, loginName } from './identifiers.ts'
import { ensureInstance } from './instances.ts'
import { closeLockTakers } from './lock-guard.ts'
import { ensureLogin, isClosedLogin, liveLogins } from './logins.ts'
import { connectServer } from './server.ts'
import { checkServer } from './server-check.ts'

const password = new SecretString('a-password-of-the-tests')

async function startServer() {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const url = new URL(postgres.url('postgres').reveal())
  const administrator = { username: url.username, password: new SecretString(url.password) }
  const server = connectServer({ host: url.hostname, port: Number(url.port) }, administrator)
  onTestFinished(() => server.close())
  await checkServer(server)
  const instance = async (tenantUid: string) => {
    const id = instanceId({ tenantUid, namespace: 'n', name: 'db' })
    await ensureInstance(server, { id, connections: 5 }, true)
    const name = loginName(tenantUid, 'a')
    await ensureLogin(server, { id, name, access: 'ReadOnly', connections: 5 }, password)
    const connect = async () => {
      const client = new pg.Client({ connectionString: postgres.url(id, { name, password: password.reveal() }).reveal() })
      const ended = new Promise<void>(resolve => client.on('end', resolve))
      client.on('error', () => undefined)
      await client.connect()
      onTestFinished(() => client.end().catch(() => undefined))
      return { client, ended }
    }
    return { id, name, connect }
  }
  return { server, instance }
}

/** Until the server has none left. */
async function takeLocks(client: pg.Client): Promise<void> {
  let taken = 0
  for (const step of [1000, 100, 10, 1])
    for (let isRoom = true; isRoom; ) {
      const sql = `SELECT count(pg_advisory_lock(n)) FROM generate_series(${taken + 1}, ${taken + step}) n`
      isRoom = await client.query(sql).then(
        () => true,
        () => false,
      )
      if (isRoom) taken += step
    }
}

test.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')(
  'a login that takes the locks of all loses its sessions and cannot log in; others go on, and so does the guard',
  async () => {
    const { server, instance } = await startServer()
    const [taker, other] = [await instance('taker'), await instance('other')]
    const followed = server.changes.follow()
    const closed = async (): Promise<readonly string[]> => {
      const logins: string[] = []
      await closeLockTakers(server, login => followed.has(login) && logins.push(login))
      return logins
    }
    expect(await closed()).toEqual([])
    const { client: present } = await other.connect()
    for (const _ of ['once', 'again']) {
      const { client, ended } = await taker.connect()
      await takeLocks(client)
      await expect(other.connect()).rejects.toMatchObject({ code: '53200' })
      expect(await closed()).toEqual([taker.name])
      await ended
      expect(followed.has(other.name)).toBe(false)
      await waitUntil('room for locks', () => present.query('SELECT pg_advisory_lock(1)').then(() => true))
      await expect(taker.connect()).rejects.toMatchObject({ code: '28000' })
      expect(await liveLogins(server, [taker.name, other.name])).toEqual(new Map([[other.name, 1]]))
      expect([await isClosedLogin(server, taker.name), await isClosedLogin(server, other.name)]).toEqual([true, false])
      // As it is when its credential is made anew.
      await ensureLogin(server, { id: taker.id, name: taker.name, access: 'ReadOnly', connections: 5 }, password)
    }
    expect(await isClosedLogin(server, taker.name)).toBe(false)
    await (await taker.connect()).client.query('SELECT 1')
    expect(await closed()).toEqual([])
  },
)
