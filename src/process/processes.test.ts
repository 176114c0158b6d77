// The entry points as real processes, on a real PostgreSQL: each reads its own settings only, waits alive and not ready, and
// ends with a message that names the variable. The API server of the kubeconfig is never reached: every process looks at its
// database first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { createProductionDatabase, type ProductionDatabase, rolePasswords } from '../../test/fixtures/production-database.ts'
import { reservePort } from '../lib/testing/reserved-port.ts'
import { waitUntil } from '../lib/waiting/wait-until.ts'

const root = join(import.meta.dirname, '../..')

function startProcess(name: string, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [`src/${name}/main.ts`], { cwd: root, env: { PATH: '/usr/bin:/bin', ...environment } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  const exited = once(child, 'exit').then(([code]) => code as number)
  return { child, exited, output: () => output }
}

const missing = (output: string): readonly string[] =>
  [...output.matchAll(/^- (SEKISHO_\w+) is not set/gm)].map(match => match[1] ?? '').sort()

test.each([
  // Everything has a default; the certificate is not there.
  ['admission', []],
  ['authorizer', []],
  // So has everything of data services; there is no API server.
  ['data-services', []],
  [
    'broker',
    [
      'SEKISHO_AUDIT_DATABASE_URL',
      'SEKISHO_DATABASE_URL',
      'SEKISHO_GITHUB_CLIENT_SECRET',
      'SEKISHO_GITHUB_WEBHOOK_SECRET',
      'SEKISHO_PUBLIC_URL',
      'SEKISHO_SEALING_KEYS',
      'SEKISHO_TLS_CERTIFICATE_PATH',
      'SEKISHO_TLS_KEY_PATH',
    ],
  ],
  [
    'controllers',
    [
      'SEKISHO_APPLICATION_URL',
      'SEKISHO_AUDIT_DATABASE_URL',
      'SEKISHO_DATABASE_URL',
      'SEKISHO_INGRESS_CLASS',
      'SEKISHO_INGRESS_FROM',
      'SEKISHO_PUBLIC_URL',
      'SEKISHO_REGISTRY',
      'SEKISHO_REGISTRY_AUTHENTICATION',
      'SEKISHO_SEALING_KEYS',
    ],
  ],
])('%s names what it needs, and asks for nothing that is another’s', async (name, variables) => {
  const { exited, output } = startProcess(name, { SEKISHO_HEALTH_PORT: '0' })
  expect(await exited).toBe(1)
  expect(missing(output())).toEqual(variables)
  if (name === 'admission' || name === 'authorizer')
    expect(output()).toContain(`failed to read the TLS file /etc/sekisho/${name}/tls.crt: ENOENT`)
})

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('on a database', () => {
  let postgres: TestPostgres
  let database: ProductionDatabase
  let kubeconfig: string
  beforeAll(async () => {
    postgres = await startPostgres()
    database = await createProductionDatabase(postgres)
    const folder = mkdtempSync(join(tmpdir(), 'sekisho-processes-'))
    kubeconfig = join(folder, 'kubeconfig')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { token: 'none' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }
    writeFileSync(kubeconfig, stringify(config))
    return () => rmSync(folder, { recursive: true, force: true })
  })
  afterAll(async () => {
    await database?.close()
    await postgres?.stop()
  })

  const brokerEnvironment = (schema: 'broker' | 'desk', healthPort: number) => {
    const { url, auditUrl, sealingKeys } = database.options('broker')
    return {
      KUBECONFIG: kubeconfig,
      SEKISHO_HEALTH_PORT: String(healthPort),
      SEKISHO_HEALTH_ADDRESS: '127.0.0.1',
      SEKISHO_DATABASE_URL: (schema === 'broker' ? url : database.url('desk')).reveal(),
      SEKISHO_AUDIT_DATABASE_URL: auditUrl.reveal(),
      SEKISHO_SEALING_KEYS: sealingKeys.map(key => key.reveal()).join(','),
      SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
      SEKISHO_GITHUB_CLIENT_SECRET: 'secret-of-the-client',
      SEKISHO_GITHUB_WEBHOOK_SECRET: 'secret-of-webhooks',
      SEKISHO_ACCOUNTS: 'any',
      SEKISHO_TLS_CERTIFICATE_PATH: '/nowhere/tls.crt',
      SEKISHO_TLS_KEY_PATH: '/nowhere/tls.key',
    }
  }

  test('the broker waits for the roles and the migrations, alive and not ready, and stops at once when it is told', async () => {
    // The roles exist on the server before this database is migrated: another database of the server has them.
    const other = await createProductionDatabase(postgres)
    await other.migrate()
    await other.close()
    const port = await reservePort()
    const { child, exited, output } = startProcess('broker', brokerEnvironment('broker', port))
    await waitUntil('the broker to say what it waits for', seen => seen(output()).includes('waiting for the database'))
    expect(output()).toMatch(/"name":"sekisho-broker".*as the owner of the database run: node src\/store\/migrate-main.ts/)
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect([ready.status, await ready.text()]).toEqual([503, 'not ready: started\n'])
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('{process="broker"}')
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })

  test('the broker does not start as the controllers, and says so without a secret', async () => {
    await database.migrate()
    const environment = brokerEnvironment('desk', await reservePort())
    const { exited, output } = startProcess('broker', environment)
    expect(await exited).toBe(1)
    expect(output()).toMatch(
      /^SEKISHO_DATABASE_URL connects as the role sekisho_desk, which may .*That is the role of the controllers/m,
    )
    for (const secret of [rolePasswords.broker?.reveal() ?? '', environment.SEKISHO_SEALING_KEYS, 'secret-of'])
      expect(output()).not.toContain(secret)
  })
})
