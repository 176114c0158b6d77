// What must be known about a ServiceClass: the Secrets that it names, what its server answers, and how many ServiceInstances have
// it. The Secrets are read from the one namespace where they can be. Never writes to the cluster.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { dataServicesNamespace } from '../../api/names.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { checkServer, type ServerFacts } from '../adapters/postgresql/server-check.ts'
import { type ServerTrouble, troubleOf } from '../server-error.ts'
import { providerOf, type Servers } from '../servers.ts'

export type Facts = {
  readonly serviceClass: ServiceClass
  /** What is wrong with the Secrets; the server was not asked then. */
  readonly missing: string | undefined
  readonly answer: ServerFacts | undefined
  readonly trouble: ServerTrouble | undefined
}

export type GatherDeps = { readonly client: Pick<KubeClient, 'get'>; readonly servers: Servers }

/** Rejects when the API server cannot be reached. */
export async function gather({ client, servers }: GatherDeps, serviceClass: ServiceClass): Promise<Facts> {
  const { adminSecret, tls } = providerOf(serviceClass)
  const read = async (name: string): Promise<Secret | undefined> =>
    client.get(secrets, { namespace: dataServicesNamespace, name })
  const admin = await read(adminSecret.name)
  const [username, password] = [textOf(admin, 'username'), textOf(admin, 'password')]
  const ca = tls.caSecret && textOf(await read(tls.caSecret.name), 'ca.crt')
  const missing = [
    ...(username === undefined ? [`${adminSecret.name} with the key username`] : []),
    ...(password === undefined ? [`${adminSecret.name} with the key password`] : []),
    ...(tls.caSecret !== undefined && ca === undefined ? [`${tls.caSecret.name} with the key ca.crt`] : []),
  ]
  const none = { serviceClass, answer: undefined, trouble: undefined }
  if (username === undefined || password === undefined || missing.length > 0)
    return { ...none, missing: `namespace ${dataServicesNamespace} has no Secret ${missing.join(', nor ')}` }
  const { server } = servers.open(serviceClass, { username, password: new SecretString(password) }, ca)
  try {
    return { ...none, missing: undefined, answer: await checkServer(server) }
  } catch (error) {
    return { ...none, missing: undefined, trouble: troubleOf(error) }
  }
}

function textOf(secret: Secret | undefined, key: string): string | undefined {
  const text = Buffer.from(secret?.data?.[key] ?? '', 'base64')
    .toString('utf8')
    .trim()
  return text === '' ? undefined : text
}
