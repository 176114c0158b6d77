// What must be known about a ServiceClass: the Secrets that it names, and what its server answers. The Secrets are read from the
// one namespace where they can be. Never writes to the cluster.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { dataServicesNamespace } from '../../api/names.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { Looks } from '../looks/looks.ts'
import type { Snapshot } from '../looks/snapshot.ts'
import { check, providerOf } from '../providers/by-type.ts'
import type { Answer } from '../providers/provider.ts'
import { type ServerTrouble, troubleOf } from '../server-error.ts'
import type { Servers } from '../servers.ts'
import { answerAtRest } from './suitable.ts'

export type Facts = {
  readonly serviceClass: ServiceClass
  /** What is wrong with the Secrets; the server was not asked then. */
  readonly missing: string | undefined
  readonly answer: Answer | undefined
  /** The look that all share, when the answer is from it. */
  readonly seen: Snapshot | undefined
  readonly trouble: ServerTrouble | undefined
}

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly servers: Servers
  readonly looks: Pick<Looks, 'at'>
}

/** Rejects when the API server cannot be reached. */
export async function gather({ client, servers, looks }: GatherDeps, serviceClass: ServiceClass): Promise<Facts> {
  const { accountKeys, secretsOf } = providerOf(serviceClass)
  const { account: name, authority } = secretsOf(serviceClass)
  const read = async (secret: string): Promise<Secret | undefined> =>
    client.get(secrets, { namespace: dataServicesNamespace, name: secret })
  const secret = await read(name)
  const values = accountKeys.map(key => [key, textOf(secret, key)] as const)
  const ca = authority && textOf(await read(authority), 'ca.crt')
  const missing = [
    ...values.flatMap(([key, value]) => (value === undefined ? [`${name} with the key ${key}`] : [])),
    ...(authority !== undefined && ca === undefined ? [`${authority} with the key ca.crt`] : []),
  ]
  const none = { serviceClass, answer: undefined, seen: undefined, trouble: undefined }
  if (missing.length > 0)
    return { ...none, missing: `namespace ${dataServicesNamespace} has no Secret ${missing.join(', nor ')}` }
  const account = Object.fromEntries(values.map(([key, value]) => [key, new SecretString(value ?? '')]))
  try {
    const opened = servers.open(serviceClass, account, ca)
    const seen = isReady(serviceClass) ? await looks.at(serviceClass.metadata.name) : undefined
    const answer = seen && answerAtRest(seen, serviceClass)
    if (answer !== undefined) return { ...none, missing: undefined, answer, seen }
    return { ...none, missing: undefined, answer: await check(opened) }
  } catch (error) {
    return { ...none, missing: undefined, trouble: troubleOf(error) }
  }
}

/** As it is now. */
function isReady({ metadata, status }: ServiceClass): boolean {
  const ready = findCondition(status?.conditions, 'Ready')
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation
}

function textOf(secret: Secret | undefined, key: string): string | undefined {
  const text = Buffer.from(secret?.data?.[key] ?? '', 'base64')
    .toString('utf8')
    .trim()
  return text === '' ? undefined : text
}
