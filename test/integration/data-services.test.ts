// ServiceClasses, ServiceInstances and ServiceBindings on a real API server and a real PostgreSQL: the controllers run as their
// ServiceAccount, and what counts is what the server answers to the credential in the Secret.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { events as coreEvents, secrets } from '../../src/api/builtin/index.ts'
import { dataServicesNamespace } from '../../src/api/names.ts'
import { rolledOutAnnotation } from '../../src/api/services/binding-secret.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { serviceClass } from '../../src/api/services/service-class.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { tenantMark } from '../../src/data-services/adapters/postgresql/identifiers.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { gone, readyReason } from '../fixtures/application-fixture.ts'
import { withDataServices } from '../fixtures/data-services-fixture.ts'
import { query } from '../fixtures/database-services.ts'
import { withClientOf } from '../fixtures/process-clients.ts'
import { provisionedService } from '../fixtures/provisioned-service.ts'

const fieldManager = 'test'
const minute = 60_000

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('on a shared server', () => {
  let postgres: TestPostgres
  let server: URL
  beforeAll(async () => {
    postgres = await startPostgres()
    server = new URL(postgres.url('postgres').reveal())
  })
  afterAll(() => postgres?.stop())

  const asAdmin = (sql: string, database = 'postgres') => query(postgres.url(database).reveal(), sql)

  type Options = { readonly password?: string; readonly through?: (client: KubeClient) => KubeClient }

  async function running({ password = server.password, through = client => client }: Options = {}) {
    const accountOf = (value: string) => ({ username: server.username, password: value })
    const on = await withDataServices({
      account: accountOf(password),
      classSpec: secret => ({
        type: 'postgresql',
        provider: {
          postgresql: {
            host: server.hostname,
            port: Number(server.port),
            adminSecret: { name: secret },
            tls: { mode: 'Disable' },
          },
        },
        plans: [{ name: 'small', default: true, limits: { connections: 5, storage: '1Gi' } }],
        reach: { cidrs: ['127.0.0.1/32'] },
        extensions: ['pgcrypto'],
        credentials: { maxAgeDays: 30, overlapMinutes: 5 },
      }),
      through,
    })
    const { client, namespace, apply } = on
    return {
      ...on,
      setAdmin: (value: string) => on.setAdmin(accountOf(value)),
      instance: (spec: Record<string, unknown> = {}) => apply(serviceInstance, 'db', { class: namespace, ...spec }),
      binding: (name = 'shop', spec: Record<string, unknown> = {}) =>
        apply(serviceBinding, name, { service: { kind: 'ServiceInstance', name: 'db' }, ...spec }),
      instanceReady: (reason = 'Provisioned') => readyReason(client, serviceInstance, { namespace, name: 'db' }, reason),
    }
  }

  test('class, instance and binding applied together: a credential that works, and no password but in the Secret', async () => {
    const on = await running()
    await Promise.all([
      on.instance({ parameters: { postgresql: { extensions: ['pgcrypto'] } } }),
      on.binding(),
      on.binding('report', { access: 'ReadOnly' }),
    ])
    const bound = await on.ready()
    await on.ready('Delivered', 'report')
    const values = await on.values()
    expect(Object.keys(values).sort()).toEqual(
      ['database', 'host', 'jdbc-url', 'password', 'port', 'provider', 'sslmode', 'type', 'uri', 'username'].sort(),
    )
    await query(values['uri'] ?? '', 'CREATE TABLE orders AS SELECT 7 AS id')
    const reader = (await on.values('report'))['uri'] ?? ''
    expect(await query(reader, 'SELECT id FROM orders')).toEqual([{ id: 7 }])
    await expect(query(reader, 'DELETE FROM orders')).rejects.toMatchObject({ code: '42501' })
    expect(await query(values['uri'] ?? '', `SELECT extname FROM pg_extension WHERE extname = 'pgcrypto'`)).toHaveLength(1)

    const instance = await on.instanceReady()
    const serviceClassNow = await on.classReady()
    expect(instance.status).toMatchObject({
      externalId: values['database'],
      endpoint: { host: server.hostname, port: Number(server.port) },
      plan: 'small',
      version: serviceClassNow.status?.version,
    })
    expect(bound.status).toMatchObject({
      binding: { name: 'binding-shop' },
      version: 1,
      principal: values['username'],
      slots: [{ slot: 'a', state: 'Delivered' }],
    })
    for (const said of [bound, instance, serviceClassNow]) {
      expect(JSON.stringify(said)).not.toContain(values['password'])
      expect(JSON.stringify(said)).not.toContain(server.password)
    }
    const secret = await on.client.get(secrets, { namespace: on.namespace, name: 'binding-shop' })
    expect(secret).toMatchObject({
      type: 'servicebinding.io/postgresql',
      metadata: { ownerReferences: [{ kind: 'ServiceBinding' }] },
    })
    // For other implementations, which know our kinds by their shape only, the binding is a service; the instance is none.
    const key = { namespace: on.namespace, name: 'shop' }
    expect(await provisionedService(on.client, serviceBinding, key)).toEqual(values)
    expect(instance.status).not.toHaveProperty('binding')
    // What others want an owner for, ReadWrite has: docs/adr/0112-the-provisioned-service-is-the-binding.md
    for (const statement of [
      'CREATE SCHEMA more',
      'CREATE TABLE more.t (id int)',
      'CREATE EXTENSION citext',
      'ALTER TABLE orders ADD b int',
      'DROP TABLE more.t',
    ])
      await query(values['uri'] ?? '', statement)
    // At rest nothing is written.
    const before = on.writes.length
    for (const type of [serviceInstance, serviceBinding]) await on.touch(type, type === serviceInstance ? 'db' : 'shop')
    await on.binding('last')
    await on.ready('Delivered', 'last')
    expect(on.writes.slice(before).filter(write => !write.endsWith('last'))).toEqual([])
  })

  test('a rotation: another credential, and the former one until the overlap ends', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + 500).toISOString() })
    on.later(1000)
    await on.touch(serviceBinding, 'shop')
    const rotated = await on.at(2)
    expect(rotated.status?.slots).toMatchObject([
      { slot: 'a', state: 'Draining', until: expect.any(String) },
      { slot: 'b', state: 'Delivered' },
    ])
    const second = await on.values()
    expect(second['username']).not.toBe(first['username'])
    for (const { uri = '' } of [first, second]) expect(await query(uri, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    on.later(6 * minute)
    await on.touch(serviceBinding, 'shop')
    await on.drained()
    await expect(query(first['uri'] ?? '', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
    expect(await query(second['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    on.later(31 * 24 * 60 * minute)
    await on.touch(serviceBinding, 'shop')
    await on.at(3)
  })

  test('what drains ends early once all pods have the other one, and nobody is connected by it', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    const session = new pg.Client({ connectionString: first['uri'] })
    session.on('error', () => undefined)
    await session.connect()
    onTestFinished(() => session.end().catch(() => undefined))
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + on.skew() - 500).toISOString() })
    await on.at(2)
    const key = { namespace: on.namespace, name: 'shop' }
    const controllers = await withClientOf('sekisho-controllers')
    const told = { metadata: { annotations: { [rolledOutAnnotation]: '2' } } }
    await controllers.mergePatch(serviceBinding, key, told, { fieldManager: 'sekisho.dev/application' })
    await on.touch(serviceBinding, 'shop')
    expect(await session.query('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
    expect((await on.ready()).status?.slots).toHaveLength(2)
    await session.end()
    const left = await waitUntil('the former credential has ended', async () => {
      const found = await on.client.get(serviceBinding, key)
      return found?.status?.slots?.length === 1 ? found : undefined
    })
    expect(left.status).toMatchObject({ slots: [{ slot: 'b', state: 'Delivered' }], ended: [{ slot: 'a' }] })
    await expect(query(first['uri'] ?? '', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  })

  test('over its plan writes end after the grace, also for a credential that is issued then, and come back when it fits', async () => {
    const on = await running()
    const plans = [{ name: 'small', default: true, limits: { connections: 5, storage: '24Mi' } }]
    await on.apply(serviceClass, on.namespace, { ...on.classSpec, plans }, '')
    await on.instance()
    await on.binding()
    await on.ready()
    const { uri = '' } = await on.values()
    /** When it was measured again. */
    const ofPlan = async (reason: string, milliseconds = 2 * minute) => {
      on.later(milliseconds)
      await on.touch(serviceInstance, 'db')
      return waitUntil(`the plan is ${reason}`, async () => {
        const found = await on.client.get(serviceInstance, { namespace: on.namespace, name: 'db' })
        const ready = findCondition(found?.status?.conditions, 'Ready')
        return findCondition(found?.status?.conditions, 'WithinPlan')?.reason === reason ? { found, ready } : undefined
      })
    }
    await ofPlan('WithinPlan')
    await query(uri, 'CREATE TABLE filled AS SELECT repeat(md5(n::text), 40) AS text FROM generate_series(1, 20000) n')
    const { found, ready } = await ofPlan('OverPlan')
    expect(ready).toMatchObject({ status: 'True', message: expect.stringContaining('nothing can be written any more from') })
    expect(found?.status?.usage?.overSince).toBeDefined()
    await query(uri, `INSERT INTO filled VALUES ('in the grace')`)
    // A tenant that spoils its own spec is measured all the same.
    await on.instance({ plan: 'none' })
    expect((await ofPlan('WritesEnded', 61 * minute)).ready).toMatchObject({ status: 'False', reason: 'PlanNotFound' })
    await on.instance()
    await on.instanceReady('WritesEnded')
    const insert = async (to: string): Promise<string> =>
      query(to, `INSERT INTO filled VALUES ('x')`).then(
        () => 'written',
        (error: unknown) => String((error as { code?: string }).code),
      )
    await waitUntil('writes are refused', async () => (await insert(uri)) === '42501' || undefined)
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + on.skew() - 500).toISOString() })
    await on.at(2)
    const second = (await on.values())['uri'] ?? ''
    expect(await insert(second)).toBe('42501')
    expect(await query(second, `DELETE FROM filled WHERE text = 'in the grace' RETURNING text`)).toHaveLength(1)
    await ofPlan('WritesEnded')
    await query(second, 'TRUNCATE filled')
    expect((await ofPlan('WithinPlan')).ready).toMatchObject({ status: 'True', reason: 'Provisioned' })
    for (const to of [uri, second]) expect(await insert(to)).toBe('written')
  })

  test('a tenant keeps so many databases, and one more is said; with the Tenant gone it is kept all the same', async () => {
    const on = await running()
    await on.instance()
    const id = (await on.instanceReady()).status?.externalId ?? ''
    const uid = (await on.client.get(tenant, { name: on.namespace }))?.metadata.uid ?? ''
    const kept = `sekisho kept ${tenantMark(uid)} 2026-01-01`
    for (let n = 0; n < 10; n++) {
      await asAdmin(`CREATE DATABASE kept_${n} ALLOW_CONNECTIONS false`)
      await asAdmin(`COMMENT ON DATABASE kept_${n} IS '${kept}'`)
    }
    const key = { namespace: on.namespace, name: 'db' }
    await on.client.delete(serviceInstance, key)
    const refused = await on.instanceReady('KeptTooMany')
    expect(findCondition(refused.status?.conditions, 'Ready')?.message).toContain('keeps 10 databases for this tenant')
    await on.client.delete(tenant, { name: on.namespace })
    await waitUntil(
      'the Tenant is gone',
      async () => (await on.client.get(tenant, { name: on.namespace })) === undefined || undefined,
    )
    await on.touch(serviceInstance, 'db')
    await gone(on.client, serviceInstance, key)
    const marks = await asAdmin(`SELECT shobj_description(oid, 'pg_database') AS mark FROM pg_database WHERE datname = '${id}'`)
    expect(marks).toEqual([{ mark: expect.stringContaining('sekisho kept ') }])
    for (let n = 0; n < 10; n++) await asAdmin(`DROP DATABASE kept_${n}`)
  })

  test('a wrong plan keeps no credential from being replaced, which is said; a first one is not made', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    await on.instance({ plan: 'huge' })
    await on.instanceReady('PlanNotFound')
    await on.binding('other')
    await readyReason(on.client, serviceBinding, { namespace: on.namespace, name: 'other' }, 'InstanceNotReady')
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + on.skew() - 500).toISOString() })
    const replaced = await on.at(2)
    const message = expect.stringContaining('; ServiceInstance db is not ready: PlanNotFound')
    expect(findCondition(replaced.status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Delivered', message })
    expect(await query((await on.values())['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await on.apply(serviceClass, on.namespace, { ...on.classSpec, tenants: { matchLabels: { tier: 'gold' } } }, '')
    await on.instanceReady('ClassNotAllowed')
    on.later(31 * 24 * 60 * minute)
    await on.touch(serviceBinding, 'shop')
    await on.at(3)
  })

  test('what drains ends when it is due, also while the instance is not ready', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + 500).toISOString() })
    on.later(1000)
    await on.touch(serviceBinding, 'shop')
    await on.at(2)
    await on.apply(serviceClass, on.namespace, { ...on.classSpec, tenants: { matchLabels: { tier: 'gold' } } }, '')
    await on.instanceReady('ClassNotAllowed')
    on.later(6 * minute)
    await on.touch(serviceBinding, 'shop')
    await on.drained()
    await expect(query(first['uri'] ?? '', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
    expect(await query((await on.values())['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a login that was closed for its locks is replaced at once and says why; closed again, it waits', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    on.startLockGuard()
    const guards = `SELECT FROM pg_stat_activity WHERE application_name = 'sekisho-data-services' AND state = 'idle in transaction'`
    await waitUntil('the guard looks', async () => (await asAdmin(guards)).length > 0 || undefined)
    /** Resolves when the session was ended: what it took of a full table stays taken until then. */
    const takeLocks = async (connectionString = ''): Promise<void> => {
      const client = new pg.Client({ connectionString })
      client.on('error', () => undefined)
      const ended = new Promise<void>(resolve => client.on('end', resolve))
      await client.connect()
      const taken = client.query('SELECT count(pg_advisory_lock(n)) FROM generate_series(1, 1000000) n')
      await expect(taken).rejects.toThrow()
      await ended
    }
    const first = await on.values()
    await takeLocks(first['uri'])
    const replaced = await on.at(2)
    expect(replaced.status?.ended).toMatchObject([{ slot: 'a', cause: 'LockTableFilled' }])
    await expect(query(first['uri'] ?? '', 'SELECT 1')).rejects.toMatchObject({ code: /^28/ })
    const said = await waitUntil('the Event', async () => {
      const all = await on.client.list(coreEvents, { namespace: on.namespace })
      return all.find(({ reason }) => reason === 'LockTableFilled')
    })
    expect(said).toMatchObject({ type: 'Warning', message: expect.stringContaining(first['username'] ?? '-') })

    const second = await on.values()
    await takeLocks(second['uri'])
    const waiting = await on.ready('LockTableFilled')
    const ready = await waitUntil('when another one is made', async () => {
      const found = await on.client.get(serviceBinding, { namespace: on.namespace, name: 'shop' })
      const condition = findCondition((found ?? waiting).status?.conditions, 'Ready')
      return condition?.message.includes('made at ') ? condition : undefined
    })
    expect(ready.status).toBe('False')
    on.later(10 * minute)
    await on.touch(serviceBinding, 'shop')
    await on.at(3)
    expect(await query((await on.values())['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a Secret that was deleted is made again with another credential', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    await on.client.delete(secrets, { namespace: on.namespace, name: 'binding-shop' })
    await on.touch(serviceBinding, 'shop')
    await on.at(2)
    const second = await on.values()
    expect(second['password']).not.toBe(first['password'])
    expect(await query(second['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a Secret of another maker is left alone', async () => {
    const on = await running()
    const metadata = { namespace: on.namespace, name: 'binding-shop' }
    await on.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { A: 'eA==' } }, { fieldManager })
    await on.instance()
    await on.binding()
    await on.ready('NameTaken')
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await gone(on.client, serviceBinding, { namespace: on.namespace, name: 'shop' })
    expect(await on.values()).toEqual({ A: 'x' })
  })

  test('a credential that could do more is never delivered, and ends', async () => {
    const on = await running()
    await on.instance()
    const id = (await on.instanceReady()).status?.externalId ?? ''
    await asAdmin(`GRANT CONNECT ON DATABASE postgres TO o_${id}`)
    await on.binding()
    const refused = await on.ready('WiderThanAsked')
    expect(refused.status?.conditions?.find(({ type }) => type === 'Proven')).toMatchObject({ status: 'False' })
    expect(await on.values()).toEqual({})
    await waitUntil('no login is left on the server', async () => {
      const sql = `SELECT rolname FROM pg_roles JOIN pg_auth_members ON member = pg_roles.oid WHERE roleid = 'o_${id}'::regrole`
      return (await asAdmin(sql)).length === 0 || undefined
    })
    await asAdmin(`REVOKE CONNECT ON DATABASE postgres FROM o_${id}`)
    await on.touch(serviceBinding, 'shop')
    await on.ready()
  })

  test('what is kept is found again by its name; what is deleted is gone; what is in use stays', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    await query(first['uri'] ?? '', 'CREATE TABLE kept AS SELECT 1 AS one')
    const key = { namespace: on.namespace, name: 'db' }
    await on.client.delete(serviceInstance, key)
    await on.instanceReady('InUse')
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await gone(on.client, serviceBinding, { namespace: on.namespace, name: 'shop' })
    await gone(on.client, serviceInstance, key)
    expect(await on.values()).toEqual({})
    await expect(query(first['uri'] ?? '', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })

    await on.instance({ whenDeleted: 'Delete' })
    await on.binding()
    await on.ready()
    const again = await on.values()
    expect(again['database']).toBe(first['database'])
    expect(await query(again['uri'] ?? '', 'SELECT one FROM kept')).toEqual([{ one: 1 }])
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await on.client.delete(serviceInstance, key)
    await gone(on.client, serviceInstance, key)
    const left = `SELECT datname FROM pg_database WHERE datname = '${again['database']}' UNION SELECT rolname FROM pg_roles WHERE rolname LIKE '%${again['database']}' OR rolname = '${again['username']}'`
    expect(await asAdmin(left)).toEqual([])
  })

  test('a database that the server lost is said, and no empty one takes its place', async () => {
    const on = await running()
    await on.instance()
    const id = (await on.instanceReady()).status?.externalId
    await asAdmin(`DROP DATABASE ${id}`)
    for (let round = 0; round < 2; round++) {
      await on.touch(serviceInstance, 'db')
      await on.instanceReady('InstanceMissing')
    }
    expect(await asAdmin(`SELECT datname FROM pg_database WHERE datname = '${id}'`)).toEqual([])
  })

  test('a wrong password of the administrator is said on the class, and nothing is made; corrected, all goes on', async () => {
    const on = await running({ password: 'wrong' })
    await on.instance()
    await on.binding()
    await on.classReady('LoginRefused')
    await on.instanceReady('ClassNotReady')
    await on.ready('InstanceNotReady')
    await on.setAdmin(server.password)
    await on.touch(serviceClass, on.namespace)
    await on.classReady()
    await on.ready()
    await on.client.delete(secrets, { namespace: dataServicesNamespace, name: on.namespace })
    await on.touch(serviceClass, on.namespace)
    await on.classReady('AdminSecretMissing')
    // What was delivered goes on.
    expect(await query((await on.values())['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['a class that is not there', { class: 'absent' }, 'ClassNotFound'],
    ['a plan that is not there', { plan: 'large' }, 'PlanNotFound'],
    ['an extension that is not allowed', { parameters: { postgresql: { extensions: ['hstore'] } } }, 'ExtensionNotAllowed'],
  ])('%s: said, and nothing is made', async (_, spec, reason) => {
    const on = await running()
    await on.instance(spec)
    expect((await on.instanceReady(reason)).status?.externalId).toBeUndefined()
  })

  test('a class for other tenants is refused; a class that is in use stays until its last instance is gone', async () => {
    const on = await running()
    await on.apply(serviceClass, on.namespace, { ...on.classSpec, tenants: { matchLabels: { tier: 'gold' } } }, '')
    await on.instance()
    await on.instanceReady('ClassNotAllowed')
    await on.client.mergePatch(tenant, { name: on.namespace }, { metadata: { labels: { tier: 'gold' } } }, { fieldManager })
    await on.instanceReady()
    await on.client.delete(serviceClass, { name: on.namespace })
    await on.classReady('ClassInUse')
    await on.client.delete(serviceInstance, { namespace: on.namespace, name: 'db' })
    await gone(on.client, serviceClass, { name: on.namespace })
  })

  test('another process takes over where this one ended', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    const first = await on.values()
    await on.stop()
    await on.client.delete(secrets, { namespace: on.namespace, name: 'binding-shop' })
    const { stop } = await on.start()
    onTestFinished(stop)
    await on.at(2)
    expect((await on.values())['username']).not.toBe(first['username'])
  })

  test('rotations under writers: each finds a credential in the Secret that works', async () => {
    const on = await running()
    await on.instance()
    await on.binding()
    await on.ready()
    await query((await on.values())['uri'] ?? '', 'CREATE TABLE writes (n int)')
    let isOver = false
    const written = [0, 0]
    const writers = Promise.all(
      written.map(async (_, mine) => {
        while (!isOver) {
          await query((await on.values())['uri'] ?? '', 'INSERT INTO writes VALUES (1)')
          written[mine] = (written[mine] ?? 0) + 1
        }
      }),
    )
    for (let version = 2; version <= 5; version++) {
      on.later(minute)
      await on.binding('shop', { rotate: new Date(Date.now() + on.skew() - 500).toISOString() })
      await on.at(version)
      const seen = [...written]
      // Each has read the Secret anew since, as pods do in a rollout; then the overlap ends.
      await waitUntil(
        'every writer to come round',
        async () => written.every((n, mine) => n >= (seen[mine] ?? 0) + 2) || undefined,
      )
      on.later(6 * minute)
      await on.touch(serviceBinding, 'shop')
      await on.drained()
    }
    isOver = true
    await writers
    const total = written.reduce((sum, n) => sum + n, 0)
    expect(await query((await on.values())['uri'] ?? '', 'SELECT count(*)::int AS n FROM writes')).toEqual([{ n: total }])
  })

  /** A process that ends at its write number `last`: before it, or when it was done and before its answer was read. */
  function endingAt(last: number, isDone: boolean) {
    let sent = 0
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const write = async <T>(send: () => Promise<T>): Promise<T> => {
      sent++
      if (sent === last && isDone) await send()
      if (sent < last) return send()
      end()
      throw new Error('the process ended')
    }
    const through = (client: KubeClient): KubeClient => ({
      ...client,
      apply: (type, object, options) => write(() => client.apply(type, object, options)),
      applyStatus: (type, object, options) => write(() => client.applyStatus(type, object, options)),
      mergePatch: (type, key, patch, options) => write(() => client.mergePatch(type, key, patch, options)),
    })
    return { through, ended }
  }

  test.each([false, true])(
    'a process that ends at any of its writes (done: %s): the next one comes to one credential',
    async isDone => {
      const points = [1, 2, 3, 4, 5, 6, 7, 8, 9]
      await Promise.all(
        points.map(async point => {
          const { through, ended } = endingAt(point, isDone)
          const on = await running({ through })
          await on.instance()
          await on.binding()
          await Promise.race([ended, on.ready()])
          await on.stop()
          const { stop } = await on.start()
          onTestFinished(stop)
          const bound = await on.ready()
          const { uri = '', username, database } = await on.values()
          expect(await query(uri, 'SELECT 1 AS one'), `point ${point}`).toEqual([{ one: 1 }])
          expect(bound.status?.slots, `point ${point}`).toMatchObject([{ state: 'Delivered' }])
          const logins = `SELECT rolname AS name FROM pg_roles JOIN pg_auth_members ON member = pg_roles.oid WHERE roleid = 'o_${database}'::regrole`
          expect(await asAdmin(logins), `point ${point}`).toEqual([{ name: username }])
        }),
      )
    },
  )
})
