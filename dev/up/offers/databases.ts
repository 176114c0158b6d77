// The ServiceClass `postgresql` of the local cluster: a PostgreSQL server on this host, the account of the platform on it,
// and its authority. The password is made once and kept in the Secret that data services read.
import { randomBytes } from 'node:crypto'
import { stringify } from 'yaml'
import type { Progress } from '../../cluster/progress.ts'
import type { ClusterSettings } from '../../cluster/settings.ts'
import { databaseAuthority } from '../../postgres/platform-server.ts'
import { ensureTenantsServer, tenantsAdministrator } from '../../postgres/tenants-server.ts'
import type { Kubectl } from '../kubectl.ts'
import { secretData } from '../secrets/secret.ts'

const namespace = 'sekisho-data'
const className = 'postgresql'
const adminSecret = 'postgresql-administrator'
const authoritySecret = 'postgresql-authority'

/** Makes or completes all of it; a machine without PostgreSQL gets a note and no class. */
export async function offerDatabases(kubectl: Kubectl, settings: ClusterSettings, progress: Progress): Promise<void> {
  const server = await ensureTenantsServer(settings, progress)
  if (server === undefined) return
  const kept = await secretData(kubectl, adminSecret, namespace)
  const password = kept['password'] ?? randomBytes(24).toString('hex')
  await server.query('postgres', administratorSql(password))
  const secret = (name: string, stringData: Readonly<Record<string, string>>): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'Opaque',
    stringData,
  })
  const objects = [
    secret(adminSecret, { username: tenantsAdministrator, password }),
    secret(authoritySecret, { 'ca.crt': await databaseAuthority(settings) }),
    serviceClass(settings),
  ]
  await kubectl.applyText(objects.map(object => stringify(object)).join('---\n'))
  await kubectl.run(['wait', '--for=condition=Ready', `serviceclass/${className}`, '--timeout=60s'], 70_000)
}

function serviceClass({ nodeAddress, tenantsPostgresPort }: ClusterSettings): object {
  return {
    apiVersion: 'services.sekisho.dev/v1alpha1',
    kind: 'ServiceClass',
    metadata: { name: className },
    spec: {
      type: 'postgresql',
      description: 'A database on the PostgreSQL server of this machine, which all tenants share.',
      provider: {
        postgresql: {
          host: nodeAddress,
          port: tenantsPostgresPort,
          adminSecret: { name: adminSecret },
          tls: { mode: 'VerifyFull', caSecret: { name: authoritySecret } },
        },
      },
      plans: [
        { name: 'small', default: true, limits: { connections: 10, storage: '1Gi' } },
        { name: 'large', limits: { connections: 40, storage: '10Gi' } },
      ],
      reach: { cidrs: [`${nodeAddress}/32`] },
      extensions: ['citext', 'hstore', 'pg_trgm', 'pgcrypto', 'unaccent', 'uuid-ossp'],
      credentials: { maxAgeDays: 30, overlapMinutes: 60 },
    },
  }
}

/** For psql. The password is hexadecimal: nothing in it has to be quoted. */
function administratorSql(password: string): string {
  return `
SELECT 'CREATE ROLE ${tenantsAdministrator} LOGIN SUPERUSER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${tenantsAdministrator}') \\gexec
ALTER ROLE ${tenantsAdministrator} PASSWORD '${password}';
`
}
