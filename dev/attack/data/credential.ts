// A service of a tenant with one credential of it, made by a person of that tenant. The credential is read as the admin: whoever
// may run code in the namespace prints it in a pod, and nobody reads it by the API, which others try.
import { defined } from '../../../src/lib/json/defined.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import type { PersonActor } from '../world/actors.ts'
import type { World } from '../world/world.ts'

export const serviceGroup = 'services.sekisho.dev/v1alpha1'

/** What the Secret holds, by its keys. */
export type Credential = Readonly<Record<string, string>>

export type Wanted = {
  readonly as: PersonActor
  readonly namespace: string
  /** Of the service and of its ServiceBinding. */
  readonly name: string
  readonly access: 'ReadWrite' | 'ReadOnly'
  /** What becomes of the service; `Delete` when omitted. */
  readonly whenDeleted?: 'Keep'
}

/** What of a World is needed. */
export type ServicesWorld = Pick<World, 'api' | 'admin' | 'journal'>

const kinds = {
  postgresql: { kind: 'ServiceInstance', plural: 'serviceinstances', spec: { whenDeleted: 'Delete' } },
  bucket: { kind: 'Bucket', plural: 'buckets', spec: { whenDeleted: 'Delete', emptyWhenDeleted: true } },
} as const
export type ServiceType = keyof typeof kinds

type Listed = {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly spec: { readonly type: string } }[]
}

/** The ServiceClass for services of this type; undefined when the platform offers none, as on a machine without PostgreSQL. */
export async function classOf({ admin }: ServicesWorld, type: ServiceType): Promise<string | undefined> {
  const { items } = (await admin.call('GET', `/apis/${serviceGroup}/serviceclasses`)) as Listed
  return items.find(({ spec }) => spec.type === type)?.metadata.name
}

/** Resolves when the credential was delivered; all of it is in the journal before. */
export async function credentialOf(
  world: ServicesWorld,
  type: ServiceType,
  serviceClass: string,
  { as, namespace, name, access, whenDeleted }: Wanted,
): Promise<Credential> {
  const { kind, plural, spec } = kinds[type]
  const make = async (resource: string, object: { readonly kind: string; readonly spec: object }): Promise<string> => {
    const collection = groupPath(serviceGroup, namespace, resource)
    await world.journal.note({ kind: 'object', path: `${collection}/${name}` })
    const json = { apiVersion: serviceGroup, metadata: { name }, ...object }
    const { status, text } = await world.api(as, 'POST', collection, { json })
    if (status !== 201 && status !== 409) throw new Error(`${as} cannot make a ${object.kind}: ${status} ${text}`)
    return `${collection}/${name}`
  }
  await make(plural, { kind, spec: { class: serviceClass, ...spec, ...defined({ whenDeleted }) } })
  const binding = await make('servicebindings', { kind: 'ServiceBinding', spec: { service: { kind, name }, access } })
  await waitUntil(`the credential of ${kind} ${namespace}/${name}`, () => isReady(world, binding), {
    timeoutMilliseconds: limits.rollout,
  })
  const { data } = (await world.admin.call('GET', `${corePath(namespace, 'secrets')}/binding-${name}`)) as { data: Credential }
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

type Condition = { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }

async function isReady({ admin }: ServicesWorld, path: string): Promise<true> {
  const { status } = (await admin.call('GET', path)) as { status?: { conditions?: readonly Condition[] } }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') throw new Error(`${ready?.reason}: ${ready?.message}`)
  return true
}

/** The value of a key that every credential of its type has. */
export function valueIn(credential: Credential, key: string): string {
  const value = credential[key]
  if (value === undefined) throw new Error(`the credential has no ${key}`)
  return value
}
