// Databases with a credential each as data-services leaves them, made without it: it would need longer for so many than what is
// measured takes. Each is a copy of one that data-services made, on the server by the same statements; that data-services finds
// nothing to write proves that it is one.
import { type Secret, secrets } from '../../../src/api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import { bindingSecretName } from '../../../src/api/services/binding-secret.ts'
import { type ServiceBinding, serviceBinding } from '../../../src/api/services/service-binding.ts'
import { type ServiceInstance, serviceInstance } from '../../../src/api/services/service-instance.ts'
import { instanceId, loginName } from '../../../src/data-services/adapters/postgresql/identifiers.ts'
import { ensureInstance } from '../../../src/data-services/adapters/postgresql/instances.ts'
import { ensureLogin } from '../../../src/data-services/adapters/postgresql/logins.ts'
import type { Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { uidOf } from '../../../src/kube/object/owner.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { put } from '../../fixtures/put-object.ts'

export type Pattern = {
  readonly instance: ServiceInstance
  readonly binding: ServiceBinding
  readonly secret: Secret
  readonly tenantUid: string
  /** Of a login, by the plan. */
  readonly connections: number
}

type Places = { readonly client: KubeClient; readonly server: Server; readonly namespace: string }

const fieldManager = 'bench'

/** Another one of this name. Its password is that of the pattern. */
export async function plantLike(pattern: Pattern, name: string, { client, server, namespace }: Places): Promise<void> {
  const { connections, tenantUid } = pattern
  const id = instanceId({ tenantUid, namespace, name })
  const place = { namespace, name }
  const { spec, metadata } = pattern.instance
  const instance = await put(client, serviceInstance, { ...place, finalizers: metadata.finalizers }, { spec })
  await ensureInstance(server, { id, connections }, true)
  const service = { kind: 'ServiceInstance', name }
  const bound = { ...pattern.binding.spec, service }
  const finalizers = pattern.binding.metadata.finalizers
  const binding = await put(client, serviceBinding, { ...place, finalizers }, { spec: bound })
  const login = loginName(uidOf(binding), 'a')
  const password = new SecretString(textOf(pattern.secret, 'password'))
  await ensureLogin(server, { id, name: login, access: 'ReadWrite', connections }, password)
  const renamed = renaming([
    [pattern.instance.status?.externalId ?? '', id],
    [loginName(uidOf(pattern.binding), 'a'), login],
    [bindingSecretName(pattern.binding.metadata.name), bindingSecretName(name)],
    [uidOf(pattern.binding), uidOf(binding)],
  ])
  await putSecret(client, pattern, { binding, renamed })
  await putStatus(client, serviceInstance, instance, renamed(pattern.instance.status))
  await putStatus(client, serviceBinding, binding, renamed(pattern.binding.status))
}

type Rename = <T>(value: T) => T

/** No name is a part of another. */
function renaming(names: readonly (readonly [string, string])[]): Rename {
  return value => JSON.parse(names.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(value)))
}

function textOf({ data = {} }: Secret, key: string): string {
  return Buffer.from(data[key] ?? '', 'base64').toString('utf8')
}

type Copied = { readonly binding: ServiceBinding; readonly renamed: Rename }

async function putSecret(client: KubeClient, { secret }: Pattern, { binding, renamed }: Copied): Promise<void> {
  const { labels, annotations, ownerReferences = [] } = secret.metadata
  const { namespace = '', name } = binding.metadata
  const metadata = {
    ...{ namespace, name: bindingSecretName(name), labels, annotations },
    ownerReferences: renamed(ownerReferences).map(owner => ({ ...owner, name })),
  }
  const values = Object.fromEntries(Object.keys(secret.data ?? {}).map(key => [key, renamed(textOf(secret, key))]))
  await put(client, secrets, metadata, { type: secret.type, stringData: values })
}

async function putStatus<T extends KubeObject>(client: KubeClient, type: ResourceType<T>, object: T, status: unknown) {
  const { namespace = '', name } = object.metadata
  const { apiVersion, kind } = type
  await client.applyStatus(type, { apiVersion, kind, metadata: { namespace, name }, status }, { fieldManager, force: true })
}
