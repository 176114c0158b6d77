// What an environment offers to its tenant: a ServiceClass, and the Secret with the administrator's account of its server. Both,
// and the Tenant, have the environment's prefix as their name.
import { secrets } from '../../../src/api/builtin/index.ts'
import { dataServicesNamespace } from '../../../src/api/names.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { gitHubHost as host } from '../../platform/ground.ts'
import type { Environment } from './environment.ts'

const fieldManager = 'sweep'

/** Makes the tenant of the namespace, and the account's Secret. */
export async function enrol({ apply, prefix, namespace }: Environment, account: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(account).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  )
  await apply(secrets, prefix, { data }, dataServicesNamespace)
  const spec = { namespace, account: { host, id: 1, login: prefix, type: 'Organization' }, roles: [] }
  await apply(tenant, prefix, { spec })
}

/** `spec`: what is special to its type. */
export function offer({ apply, prefix }: Environment, spec: object): Promise<void> {
  return apply(serviceClass, prefix, { spec: { reach: { cidrs: ['127.0.0.1/32'] }, ...spec } })
}

/** Objects that all other environments would list. Services stay, with the namespace. */
export async function withdrawServices({ fixture: { kube }, prefix: name }: Environment): Promise<void> {
  await kube.mergePatch(serviceClass, { name }, { metadata: { finalizers: [] } }, { fieldManager })
  await kube.delete(serviceClass, { name })
  await kube.delete(tenant, { name })
  await kube.delete(secrets, { namespace: dataServicesNamespace, name })
}
