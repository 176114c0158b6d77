// What all environments of a sweep share: the API server, the GitHub emulator, a PostgreSQL server, and the pool of processes under test.
// Started once; it does not depend on any scenario.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type AdminClient, createAdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { type ClientAccess, readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import { type RunningEmulator, startEmulator } from '../../../dev/github/emulator.ts'
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import { namespaces } from '../../../src/api/builtin/index.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../../src/kube/kubeconfig/kubeconfig.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { type DnsServer, startDnsServer } from '../../fixtures/dns-server.ts'
import { type SmallRegistry, startSmallRegistry } from '../../fixtures/small-registry.ts'
import { createSubjects, type Subjects } from '../subject/subject.ts'

const run = promisify(execFile)
/** Migrated once; the database of every environment is a copy. */
const template = 'sweep_template'

export type Fixture = {
  readonly access: ClientAccess
  /** Has access to everything; its requests pass no proxy and are not counted. */
  readonly kube: ReturnType<typeof createKubeClient>
  readonly admin: AdminClient
  readonly github: RunningEmulator
  readonly dns: DnsServer
  readonly postgres: TestPostgres
  /** Holds the images that scenarios build as kpack would. */
  readonly registry: SmallRegistry
  readonly subjects: Subjects
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

export async function openFixture(kubeconfig: string): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-sweep-'))
  const [access, connection, github, dns, postgres, subjects, registry] = await Promise.all([
    readKubeconfig(kubeconfig),
    loadKubeConnection({ environment: { KUBECONFIG: kubeconfig }, clock: systemClock }),
    // Olivia owns the accounts of all environments, and each of her pages reads all of them: more requests than GitHub's hourly limit.
    startEmulator({ rateLimit: { authenticated: 1_000_000, anonymous: 60, enforced: false } }),
    startDnsServer(),
    startPostgres(),
    createSubjects(folder),
    startSmallRegistry(),
  ])
  const kube = createKubeClient({ connection, component: 'sweep', clock: systemClock, random: Math.random })
  const admin = createAdminClient(access)
  await kube.apply(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: platformNamespace } },
    { fieldManager: 'sweep', force: true },
  )
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
  await migrated.close()
  return {
    access,
    kube,
    admin,
    github,
    dns,
    postgres,
    registry,
    subjects,
    sealingKey,
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
      await rm(folder, { recursive: true, force: true })
    },
  }
}
