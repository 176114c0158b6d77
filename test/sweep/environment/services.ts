// What an environment offers to its tenant: a ServiceClass, and the Secret with the administrator's account of its server. Both,
// and the Tenant, have the environment's prefix as their name.
import { secrets } from '../../../src/api/builtin/index.ts'
import { dataServicesNamespace } from '../../../src/api/names.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { gitHubHost as host } from '../../platform/ground.ts'
import type { Fixture } from './fixture.ts'

const fieldManager = 'sweep'

/** Of an environment. */
type Place = {
  readonly prefix: string
  readonly namespace: string
  readonly apply: (type: ResourceType, name: string, content: object, namespace?: string) => Promise<void>
}

/** Makes the tenant of the namespace, and the account's Secret. */
export async function enrol({ apply, prefix, namespace }: Place, account: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(account).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  )
  await apply(secrets, prefix, { data }, dataServicesNamespace)
  const spec = { namespace, account: { host, id: 1, login: prefix, type: 'Organization' }, roles: [] }
  await apply(tenant, prefix, { spec })
}

/** `spec`: what is special to its type. */
export function offer({ apply, prefix }: Place, spec: object): Promise<void> {
  return apply(serviceClass, prefix, { spec: { reach: { cidrs: ['127.0.0.1/32'] }, ...spec } })
}

/** Objects that all other environments would list. Services stay, with the namespace. */
export async function withdrawServices({ kube }: Fixture, name: string): Promise<void> {
  await kube.mergePatch(serviceClass, { name }, { metadata: { finalizers: [] } }, { fieldManager })
  await kube.delete(serviceClass, { name })
  await kube.delete(tenant, { name })
  await kube.delete(secrets, { namespace: dataServicesNamespace, name })
}
