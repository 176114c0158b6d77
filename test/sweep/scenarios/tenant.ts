// A Tenant is created, its roles change, and it is deleted while a token under it is active.
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../../src/api/builtin/index.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'
import { withActiveToken } from './workload.ts'

const owners = { role: 'admin', subject: { type: 'Owners' } }
const members = { role: 'viewer', subject: { type: 'Members' } }

function applyTenant(environment: Environment, roles: readonly object[]): Promise<void> {
  const { id, login } = environment.account.organization
  const account = { host, id, login, type: 'Organization' }
  return environment.apply(tenant, environment.prefix, { spec: { account, namespace: environment.namespace, roles } })
}

export async function settleTenant(environment: Environment): Promise<void> {
  await applyTenant(environment, [owners, members])
  await ready(environment, tenant, environment.prefix, 'NamespacesReady')
}

const shared = {
  controllers: ['tenant'],
  compares: [tenant, namespaces, roleBindings, resourceQuotas, limitRanges, networkPolicies, configMaps, serviceAccounts],
} as const

export const tenantScenario: Scenario = {
  ...shared,
  name: 'tenant: create, change roles',
  environment: { component: 'controllers', namespace: 'tenant', github: 'account' },
  // The range is recorded before the namespaces say it. Only the first environment also makes the record, by a write more.
  shortPoints: /configmaps sekisho-user-ranges$/,
  async act(environment) {
    await settleTenant(environment)
    await applyTenant(environment, [owners, { ...owners, role: 'developer' }])
    await ready(environment, tenant, environment.prefix, 'NamespacesReady')
    await waitUntil(
      'only the remaining roles are bound',
      async () => {
        const bound = await environment.fixture.kube.list(roleBindings, { namespace: environment.namespace })
        const names = bound.map(({ metadata }) => metadata.name).filter(name => name.startsWith('sekisho:tenant-'))
        return names.join() === 'sekisho:tenant-admin,sekisho:tenant-developer' || undefined
      },
      patience,
    )
  },
}

export const tenantDeletion: Scenario = {
  ...shared,
  name: 'tenant: delete, with an active token',
  environment: { component: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  async prepare(environment) {
    await settleTenant(environment)
    await withActiveToken(environment)
  },
  async act(environment) {
    await environment.fixture.kube.delete(tenant, { name: environment.prefix })
    await gone(environment, tenant, environment.prefix)
    for (const name of environment.namespaces) await gone(environment, namespaces, name)
  },
}
