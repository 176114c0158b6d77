// What all environments of a sweep share: the API server, the GitHub emulator, a PostgreSQL server, and the pool of processes
// under test. Started once; it does not depend on any scenario.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type AdminClient, createAdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { type ClientAccess, readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { startStockedEmulator } from '../../../dev/github/testing/stocked-emulator.ts'
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import { configMaps } from '../../../src/api/builtin/index.ts'
import { appSecretsKeyMap, platformNamespace } from '../../../src/api/names.ts'
import { makeOpeningKey, openingKeyOf } from '../../../src/identity/sealed-values/open.ts'
import { type SealValue, sealerOf } from '../../../src/identity/sealed-values/seal.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { appSecretsKeyName } from '../../../src/services/app-secret-keys/open.ts'
import { applyAsOwner } from '../../../src/store/access/owner.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { type DnsServer, startDnsServer } from '../../fixtures/dns-server.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import { installRights, tokenOf } from '../../fixtures/platform-rights.ts'
import { rolePasswords } from '../../fixtures/production-database.ts'
import { type SmallRegistry, startSmallRegistry } from '../../fixtures/small-registry.ts'
import type { Component } from '../subject/messages.ts'
import { createSubjects, type Subjects } from '../subject/subject.ts'
import { createTenantsPool, type TenantsPool } from './tenants-pool.ts'

const run = promisify(execFile)
/** Migrated once, with the roles of production; the database of every environment is a copy. */
const template = 'sweep_template'

export type Fixture = {
  readonly access: ClientAccess
  /** Of the administrator. */
  readonly kubeconfig: string
  /** By which the process under test is known to the API server: that of its ServiceAccount. */
  readonly tokens: Readonly<Record<Component, string>>
  /** Has access to everything; its requests pass no proxy and are not counted. */
  readonly kube: Awaited<ReturnType<typeof openKube>>
  readonly admin: AdminClient
  readonly github: RunningEmulator
  readonly dns: DnsServer
  readonly postgres: TestPostgres
  readonly tenantsServers: TenantsPool
  /** Holds the images that scenarios build as kpack would. */
  readonly registry: SmallRegistry
  readonly subjects: Subjects
  /**
   * Seals values of AppSecrets as admission does: all environments have the same key, because the platform publishes it in one
   * ConfigMap.
   */
  readonly sealValue: SealValue
  /** Sealing key of all stores of this sweep, in base64. */
  readonly sealingKey: string
  /** Different for each environment, also between sweeps on one API server. */
  readonly nextPrefix: () => string
  /** With the current schema, and empty. */
  readonly makeDatabase: (name: string) => Promise<void>
  /** The rows that psql prints, columns separated by `|`. */
  readonly query: (database: string, sql: string) => Promise<string>
  readonly stop: () => Promise<void>
}

/** `githubNow`: what time it is at GitHub, in milliseconds; the time of the machine by default. */
export async function openFixture(kubeconfig: string, githubNow: () => number = Date.now): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-sweep-'))
  const [access, kube, github, dns, postgres, subjects, registry] = await Promise.all([
    readKubeconfig(kubeconfig),
    openKube(kubeconfig),
    // Olivia owns the accounts of all environments, and each of her pages reads all of them: more requests than GitHub's hourly
    // limit.
    startStockedEmulator({ rateLimit: { authenticated: 1_000_000, anonymous: 60, enforced: false }, now: githubNow }),
    startDnsServer(),
    startPostgres(),
    createSubjects(folder),
    startSmallRegistry(),
  ])
  const admin = createAdminClient(access)
  const tenantsServers = createTenantsPool()
  await installRights(admin)
  const tokens = {
    controllers: await tokenOf(admin, 'sekisho-controllers'),
    broker: await tokenOf(admin, 'sekisho-broker'),
    'data-services': await tokenOf(admin, 'sekisho-data-services'),
  }
  const sweep = randomBytes(2).toString('hex')
  let environments = 0
  const query: Fixture['query'] = async (database, sql) =>
    (await run('psql', [postgres.url(database).reveal(), '-q', '-A', '-t', '-c', sql])).stdout.trim()
  const sealingKey = randomBytes(32).toString('base64')
  await query('postgres', `CREATE DATABASE ${template}`)
  const migrated = await openStore({
    url: postgres.url(template),
    sealingKeys: [new SecretString(sealingKey)],
    clock: systemClock,
    log: silentLog,
  })
  const key = await openingKeyOf(
    await migrated.controllers.keys.getOrCreate(appSecretsKeyName(1), () => makeOpeningKey(new Date())),
  )
  await migrated.close()
  const { apiVersion, kind } = configMaps
  const metadata = { namespace: platformNamespace, name: appSecretsKeyMap.name }
  const published = { apiVersion, kind, metadata, data: { [appSecretsKeyMap.field]: key.publicKey } }
  await kube.apply(configMaps, published, { fieldManager: 'sweep', force: true })
  const owner = connectServer(postgres.url(template), silentLog)
  await applyAsOwner(owner.pool, rolePasswords, silentLog)
  await owner.close()
  return {
    access,
    kubeconfig,
    tokens,
    kube,
    admin,
    github,
    dns,
    postgres,
    tenantsServers,
    registry,
    subjects,
    sealingKey,
    sealValue: await sealerOf(key.publicKey),
    // Of equal length: no prefix is the start of another.
    nextPrefix: () => `sw-${sweep}-${String(++environments).padStart(4, '0')}`,
    async makeDatabase(name) {
      await query('postgres', `CREATE DATABASE "${name}" TEMPLATE ${template}`)
    },
    query,
    async stop() {
      await subjects.stop()
      await admin.close()
      await kube.close()
      await registry.close()
      await github.stop()
      await dns.close()
      await postgres.stop()
      await tenantsServers.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
