// What services are made on: a PostgreSQL server and a store of buckets that start empty, each offered to every tenant by a
// ServiceClass, and what they have beside what they had at the beginning, asked of them and not of the platform.
import { ListUsersCommand } from '@aws-sdk/client-iam'
import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import { startVersitygw, type TestStore } from '../../../dev/versitygw/start-versitygw.ts'
import { secrets } from '../../../src/api/builtin/index.ts'
import { dataServicesNamespace } from '../../../src/api/names.ts'
import type { KubeObject } from '../../../src/api/resource.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import { connectServer, type Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import { connectStore, type Store } from '../../../src/data-services/adapters/s3/store.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import { put } from '../../fixtures/put-object.ts'

/** Names of the ServiceClasses. */
export const classes = { database: 'databases', bucket: 'buckets' } as const

/** Of the class of databases. */
export const plan = { name: 'small', default: true, limits: { connections: 5, storage: '1Gi' } } as const

export type Servers = {
  /** Of the PostgreSQL server, without the platform: for its peer, and to look. */
  readonly server: Server
  readonly store: TestStore
  /** Databases, roles, buckets and users that were not there when the classes became ready. */
  readonly left: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export type ServersOptions = {
  /** Waits for the disk at every commit. */
  readonly durable?: boolean
  /** A port on loopback by which the platform reaches the PostgreSQL server, instead of the server's own. */
  readonly relayed?: (server: { readonly host: string; readonly port: number }) => Promise<number>
}

/** Resolves when data-services, which must run, found both ready. */
export async function offerServers(client: KubeClient, { durable, relayed }: ServersOptions = {}): Promise<Servers> {
  return openClosing(async onClose => {
    const postgres = await startPostgres(defined({ durable }))
    onClose(postgres.stop)
    const store = await startVersitygw()
    onClose(store.stop)
    const { username, password, host, port } = ownerOf(postgres)
    const server = connectServer({ host, port }, { username, password: new SecretString(password) })
    onClose(server.close)
    const reached = { host, port: (await relayed?.({ host, port })) ?? port }
    const buckets = connectStore({ id: 'bench', ...store }, store.key)
    onClose(buckets.close)
    await offer(client, classes.database, { username, password }, adminSecret => ({
      type: 'postgresql',
      provider: { postgresql: { ...reached, adminSecret, tls: { mode: 'Disable' } } },
      plans: [plan],
    }))
    const keys = { accessKeyId: store.key.accessKeyId, secretAccessKey: store.key.secretAccessKey.reveal() }
    await offer(client, classes.bucket, keys, adminSecret => ({
      type: 'bucket',
      provider: { s3: { endpoint: store.endpoint.origin, iamEndpoint: store.iamEndpoint.origin, adminSecret } },
      plans: [{ name: 'small', default: true, limits: { storage: '1Gi' } }],
    }))
    const all = async (): Promise<readonly string[]> => [...(await namesOnServer(server)), ...(await namesInStore(buckets))]
    const before = new Set(await all())
    return { server, store, left: async () => (await all()).filter(name => !before.has(name)) }
  })
}

function ownerOf(postgres: TestPostgres) {
  const { username, password, hostname: host, port } = new URL(postgres.url('postgres').reveal())
  return { username, password, host, port: Number(port) }
}

/** Resolves when the class is ready. */
async function offer(
  client: KubeClient,
  name: string,
  values: Readonly<Record<string, string>>,
  specOf: (adminSecret: { readonly name: string }) => object,
): Promise<void> {
  await put(client, secrets, { namespace: dataServicesNamespace, name }, { stringData: values })
  const spec = { ...specOf({ name }), reach: { cidrs: ['127.0.0.1/32'] }, allowIsolated: false }
  await put(client, serviceClass, { name }, { spec })
  await waitUntil(`ServiceClass ${name} to be ready`, async seen => isReady(seen(await client.get(serviceClass, { name }))))
}

export function isReady(object: KubeObject | undefined): boolean {
  const { conditions } = (object as { readonly status?: { readonly conditions?: never } } | undefined)?.status ?? {}
  return findCondition(conditions, 'Ready')?.status === 'True'
}

function namesOnServer(server: Server): Promise<readonly string[]> {
  const names = `SELECT 'database ' || datname AS name FROM pg_database UNION ALL SELECT 'role ' || rolname FROM pg_roles`
  return server.asAdministrator(async session => (await session.query<{ name: string }>(names)).map(({ name }) => name))
}

function namesInStore(store: Store): Promise<readonly string[]> {
  return store.asAdministrator(async ({ s3, iam }) => {
    const { Buckets = [] } = await s3.send(new ListBucketsCommand({}))
    const { Users = [] } = await iam.send(new ListUsersCommand({}))
    return [...Buckets.map(({ Name }) => `bucket ${Name}`), ...Users.map(({ UserName }) => `user ${UserName}`)]
  })
}
