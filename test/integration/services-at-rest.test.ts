// What databases and credentials at rest cost their server, and how soon it is found that somebody changed them there: on a real
// API server and a real PostgreSQL. Statements are counted on the wire, and minutes pass by a clock that the test moves on.
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { serviceClass } from '../../src/api/services/service-class.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import { createStatementCounter } from '../../src/data-services/metrics.ts'
import { createKubeMetrics } from '../../src/kube/metrics.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { countStatements } from '../fixtures/counted-statements.ts'
import { withDataServices } from '../fixtures/data-services-fixture.ts'
import { query } from '../fixtures/database-services.ts'
import { createSteeredClock } from '../fixtures/steered-clock.ts'

const minute = 60_000

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('a server that tenants share', () => {
  let postgres: TestPostgres
  let server: URL
  beforeAll(async () => {
    postgres = await startPostgres()
    server = new URL(postgres.url('postgres').reveal())
  })
  afterAll(() => postgres?.stop())
  const asAdmin = (sql: string) => query(server.href, sql)

  /**
   * A process that found databases of these names, each with a credential, as another process had left them: everything is
   * ready. `pass` lets a minute pass, and resolves when all that is due then was looked at.
   */
  async function resting(names: readonly string[]) {
    const wire = await countStatements(server)
    const on = await withDataServices({
      account: { username: server.username, password: server.password },
      classSpec: secret => ({
        type: 'postgresql',
        provider: {
          postgresql: { host: '127.0.0.1', port: wire.port, adminSecret: { name: secret }, tls: { mode: 'Disable' } },
        },
        plans: [{ name: 'small', default: true, limits: { connections: 5, storage: '1Gi' } }],
        reach: { cidrs: ['127.0.0.1/32'] },
      }),
    })
    const { namespace, client } = on
    for (const name of names) {
      await on.apply(serviceInstance, name, { class: namespace })
      await on.apply(serviceBinding, name, { service: { kind: 'ServiceInstance', name } })
    }
    for (const name of names) await on.ready('Delivered', name)
    await on.stop()

    const [clock, registry] = [createSteeredClock(), new Registry()]
    const sent = wire.count()
    const metrics = createKubeMetrics(registry)
    const { stop } = await on.start(undefined, { clock, metrics, countStatements: createStatementCounter(registry) })
    onTestFinished(stop)
    const seriesOf = async (metric: string) => (await registry.getSingleMetric(metric)?.get())?.values ?? []
    const sumOf = async (metric: string, labels: Readonly<Record<string, string>>): Promise<number> => {
      const isWanted = (own: Readonly<Record<string, unknown>>) => Object.keys(labels).every(key => own[key] === labels[key])
      return (await seriesOf(metric)).reduce((sum, { labels: own, value }) => sum + (isWanted(own) ? value : 0), 0)
    }
    const reconciled = (controller: string) => sumOf('controller_runtime_reconcile_total', { controller })
    const untilLooked = async (controller: string, times: number): Promise<void> => {
      await waitUntil(`${times} reconciles of ${controller}, and none in progress`, async seen => {
        const busy = (await sumOf('workqueue_depth', {})) + (await sumOf('workqueue_unfinished_work_seconds', {}))
        return seen(await reconciled(controller)) >= times && busy === 0
      })
    }
    // Until the server is open each waits a second.
    await waitUntil('the first look', async () => (await sumOf('sekisho_service_server_statements_total', {})) > 0)
    clock.later(1_000)
    await untilLooked('service-instance', names.length)
    // Sizes that were not known before are.
    const written = on.writes.length
    return {
      ...on,
      reconciled,
      onWire: () => wire.count() - sent,
      statements: (purpose: string) => sumOf('sekisho_service_server_statements_total', { service_class: namespace, purpose }),
      written: () => on.writes.slice(written),
      async pass() {
        const before = await reconciled('service-instance')
        clock.later(minute)
        await untilLooked('service-instance', before + names.length)
      },
      nameOf: async (name: string): Promise<string> =>
        (await client.get(serviceInstance, { namespace, name }))?.status?.externalId ?? '',
    }
  }

  test('ten minutes of twelve databases and their credentials are eleven statements, and nothing is written', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `db-${n}`)
    const on = await resting(names)
    for (let minutes = 0; minutes < 10; minutes++) await on.pass()
    await waitUntil(
      'each credential to be looked at',
      async seen => seen(await on.reconciled('service-binding')) >= 2 * names.length,
    )
    expect(on.onWire()).toBe(11)
    expect(await Promise.all(['look', 'administrator', 'login', 'guard'].map(on.statements))).toEqual([11, 0, 0, 0])
    expect(on.written()).toEqual([])
  })

  test('an instance whose writes ended rests as the others do, and a login that came to write again does not stay', async () => {
    const on = await resting(['full', 'other'])
    const { uri = '', username = '' } = await on.values('full')
    await on.apply(
      serviceClass,
      on.namespace,
      { ...on.classSpec, plans: [{ name: 'small', default: true, limits: { connections: 5, storage: '1Mi' } }] },
      '',
    )
    const ended = (name: string) => readyReason(on.client, serviceInstance, { namespace: on.namespace, name }, 'WritesEnded')
    await on.pass()
    await Promise.all(['full', 'other'].map(ended))
    await on.pass()
    const [before, asked] = [on.onWire(), await on.statements('administrator')]
    for (let minutes = 0; minutes < 5; minutes++) await on.pass()
    expect([on.onWire() - before, (await on.statements('administrator')) - asked]).toEqual([5, 0])
    await asAdmin(`GRANT "o_${await on.nameOf('full')}" TO ${username}`)
    await on.pass()
    await waitUntil('it is no member any more', async () => {
      const members = `SELECT FROM pg_auth_members WHERE roleid = 'o_${await on.nameOf('full')}'::regrole`
      return (await asAdmin(`${members} AND member = '${username}'::regrole`)).length === 0
    })
    await expect(query(uri, 'CREATE TABLE more ()')).rejects.toMatchObject({ code: '42501' })
  })

  test('what somebody changed on the server is found within the minute, and undone or said', async () => {
    const on = await resting(['limited', 'lost', 'closed', 'left'])
    const [limited, lost, closed] = await Promise.all(['limited', 'lost', 'closed'].map(on.nameOf))
    const { username = '', uri: former = '' } = await on.values('closed')
    await asAdmin(`ALTER DATABASE ${limited} CONNECTION LIMIT 7`)
    await asAdmin(`GRANT CONNECT ON DATABASE ${limited} TO PUBLIC`)
    await asAdmin(`GRANT CONNECT ON DATABASE postgres TO PUBLIC`)
    await asAdmin(`DROP DATABASE ${lost} WITH (FORCE)`)
    await asAdmin(`ALTER ROLE ${username} NOLOGIN`)
    await expect(query(former, 'SELECT 1')).rejects.toMatchObject({ code: '28000' })
    const leftBefore = await on.values('left')
    await on.pass()
    await readyReason(on.client, serviceInstance, { namespace: on.namespace, name: 'lost' }, 'InstanceMissing')
    const limits = `SELECT datconnlimit AS n, has_database_privilege('public', oid, 'CONNECT') AS open FROM pg_database`
    expect(await asAdmin(`${limits} WHERE datname = '${limited}'`)).toEqual([{ n: 10, open: false }])
    await waitUntil('the database of the server to be closed', async () => {
      const [found] = await asAdmin(`${limits} WHERE datname = 'postgres'`)
      return found?.['open'] === false
    })
    const present = await waitUntil('another credential', async () => {
      const values = await on.values('closed')
      return values['username'] === undefined || values['uri'] === former ? undefined : values
    })
    expect(present['database']).toBe(closed)
    expect(await query(present['uri'] ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await asAdmin(`SELECT datname FROM pg_database WHERE datname = '${lost}'`)).toEqual([])
    expect(await on.values('left')).toEqual(leftBefore)
  })
})
