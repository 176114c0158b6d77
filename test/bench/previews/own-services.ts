// A database and a bucket for each preview: what a pipeline asks for, and what the pods of a preview do with them.
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { application } from '../../../src/api/apps/application.ts'
import { secrets } from '../../../src/api/builtin/index.ts'
import { ownedBindingName, type ServiceUse } from '../../../src/api/services/application-services.ts'
import { bindingSecretName } from '../../../src/api/services/binding-secret.ts'
import { connectServer } from '../../../src/data-services/adapters/postgresql/server.ts'
import { connectStore } from '../../../src/data-services/adapters/s3/store.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import { classes, offerServers, type Servers } from '../services/servers.ts'

export type OwnServices = Pick<Servers, 'left'> & {
  /** Stores something by the credentials that the Application's pods have. Rejects when a service takes it not. */
  readonly fill: (application: { readonly namespace: string; readonly name: string }) => Promise<void>
  readonly close: () => Promise<void>
}

/** What the template of an AppPipeline has beside its Application. */
export const ownServices = [
  { name: 'db', class: classes.database },
  { name: 'pictures', class: classes.bucket },
] as const
/** What its Application names, which nobody makes: each preview uses its own. */
export const usedServices = [
  { name: 'db', instance: 'shared' },
  { name: 'pictures', bucket: 'shared' },
] as const

/** The servers of a platform that runs. */
export async function openOwnServices(kubeconfig: string): Promise<OwnServices> {
  const client = await openKube(kubeconfig)
  try {
    const servers = await offerServers(client)
    return {
      left: servers.left,
      async fill({ namespace, name }) {
        const found = await client.get(application, { namespace, name })
        for (const use of found?.spec.services ?? []) {
          const values = await credential(client, namespace, ownedBindingName(name, use as ServiceUse))
          await (use.bucket === undefined ? fillDatabase(values) : fillBucket(servers, values))
        }
      },
      async close() {
        await servers.close()
        await client.close()
      },
    }
  } catch (error) {
    await client.close()
    throw error
  }
}

type Values = (key: string) => string

async function credential(client: KubeClient, namespace: string, binding: string): Promise<Values> {
  const name = bindingSecretName(binding)
  const secret = await client.get(secrets, { namespace, name })
  return key => {
    const value = secret?.data?.[key]
    if (value === undefined) throw new Error(`the Secret ${name} has no ${key}`)
    return Buffer.from(value, 'base64').toString('utf8')
  }
}

async function fillDatabase(values: Values): Promise<void> {
  const login = { username: values('username'), password: new SecretString(values('password')) }
  const server = connectServer({ host: values('host'), port: Number(values('port')) }, login)
  try {
    await server.asLogin(login, values('database'), session => session.query('CREATE TABLE orders AS SELECT 7 AS id'))
  } finally {
    await server.close()
  }
}

/** Two versions of one object. */
async function fillBucket({ store }: Servers, values: Values): Promise<void> {
  const key = { accessKeyId: values('access-key-id'), secretAccessKey: new SecretString(values('secret-access-key')) }
  const tenant = connectStore({ id: 'bench', ...store }, key)
  try {
    const put = { Bucket: values('bucket'), Key: 'a/picture' }
    await tenant.asKey(key, async ({ s3 }) => {
      for (const Body of ['first', 'second']) await s3.send(new PutObjectCommand({ ...put, Body }))
    })
  } finally {
    tenant.close()
  }
}
