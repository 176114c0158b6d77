// What scenarios of databases and of buckets have in common: the tenant, the ServiceBinding `shop`, what its Secret holds, and
// the controllers of Applications, which are played.
import { secrets } from '../../../src/api/builtin/index.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { bindingVersionAnnotation, rolledOutAnnotation } from '../../../src/api/services/binding-secret.ts'
import { type BoundKind, type ServiceBinding, serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, fieldManager } from '../environment/environment.ts'
import { gone, patience, ready } from './waits.ts'

/** Of scenarios in which a credential is replaced: it lives for a minute at least. */
export const rotationClockRate = 30

export const isOffered = (environment: Environment) => ready(environment, serviceClass, environment.prefix, 'Answering')
export const isDelivered = (environment: Environment) => ready(environment, serviceBinding, 'shop', 'Delivered')

export function bind({ apply }: Environment, kind: BoundKind, name: string): Promise<void> {
  return apply(serviceBinding, 'shop', { spec: { service: { kind, name } } })
}

export type Held = { readonly version: string | undefined; readonly textOf: (key: string) => string }

/** What pods would have; undefined without a Secret. */
export async function heldBy({ fixture, namespace }: Environment): Promise<Held | undefined> {
  const secret = await fixture.kube.get(secrets, { namespace, name: 'binding-shop' })
  if (secret === undefined) return undefined
  return {
    version: secret.metadata.annotations?.[bindingVersionAnnotation],
    textOf: key => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8'),
  }
}

/** Resolves when another credential was delivered, all pods have it, and the former one has ended. */
export async function replaceCredential(environment: Environment): Promise<void> {
  const patch = (change: object): Promise<unknown> => {
    const key = { namespace: environment.namespace, name: 'shop' }
    return environment.fixture.kube.mergePatch(serviceBinding, key, change, { fieldManager })
  }
  const [slot] = (await isDelivered(environment)).status?.slots ?? []
  // By the clock of the process.
  const rotate = new Date(Date.parse(slot?.issuedAt ?? '') + 61_000).toISOString()
  await patch({ spec: { rotate } })
  await bindingIs(environment, 'another credential is delivered', status => status?.version === 2)
  await patch({ metadata: { annotations: { [rolledOutAnnotation]: '2' } } })
  await bindingIs(environment, 'the former credential has ended', status => status?.slots?.length === 1)
}

function bindingIs(
  { fixture, namespace }: Environment,
  what: string,
  is: (status: ServiceBinding['status']) => boolean,
): Promise<true> {
  return waitUntil(
    what,
    async () => {
      const found = await fixture.kube.get(serviceBinding, { namespace, name: 'shop' })
      return (found !== undefined && is(found.status)) || undefined
    },
    patience,
  )
}

/** The binding and its service at once. */
export async function deleteBoth(environment: Environment, type: ResourceType, name: string): Promise<void> {
  const { fixture, namespace } = environment
  await fixture.kube.delete(serviceBinding, { namespace, name: 'shop' })
  await fixture.kube.delete(type, { namespace, name })
  await gone(environment, serviceBinding, 'shop')
  await gone(environment, type, name)
}

export async function deleteClass(environment: Environment): Promise<void> {
  await environment.fixture.kube.delete(serviceClass, { name: environment.prefix })
  await gone(environment, serviceClass, environment.prefix)
}
