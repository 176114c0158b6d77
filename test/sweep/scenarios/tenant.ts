// A Tenant is made, its roles change, and it is deleted while a token lives under it.

import { waitUntil } from '../../../dev/cluster/wait-until.ts'
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
import { host, type World } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'
import { withLiveToken } from './workload.ts'

const owners = { role: 'admin', subject: { type: 'Owners' } }
const members = { role: 'viewer', subject: { type: 'Members' } }

function applyTenant(world: World, roles: readonly object[]): Promise<void> {
  const { id, login } = world.account.organization
  const account = { host, id, login, type: 'Organization' }
  return world.apply(tenant, world.prefix, { spec: { account, namespace: world.namespace, roles } })
}

export async function settleTenant(world: World): Promise<void> {
  await applyTenant(world, [owners, members])
  await ready(world, tenant, world.prefix, 'NamespacesReady')
}

const shared = {
  controllers: ['tenant'],
  sees: [tenant, namespaces, roleBindings, resourceQuotas, limitRanges, networkPolicies, configMaps, serviceAccounts],
} as const

export const tenantScenario: Scenario = {
  ...shared,
  name: 'tenant: create, change roles',
  world: { part: 'controllers', namespace: 'tenant', github: 'account' },
  async act(world) {
    await settleTenant(world)
    await applyTenant(world, [owners, { ...owners, role: 'developer' }])
    await ready(world, tenant, world.prefix, 'NamespacesReady')
    await waitUntil(
      'the roles are those that are left',
      async () => {
        const bound = await world.site.kube.list(roleBindings, { namespace: world.namespace })
        return bound.map(({ metadata }) => metadata.name).join() === 'sekisho:tenant-admin,sekisho:tenant-developer' || undefined
      },
      patience,
    )
  },
}

export const tenantDeletion: Scenario = {
  ...shared,
  name: 'tenant: delete, a token lives',
  world: { part: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  async prepare(world) {
    await settleTenant(world)
    await withLiveToken(world)
  },
  async act(world) {
    await world.site.kube.delete(tenant, { name: world.prefix })
    await gone(world, tenant, world.prefix)
    for (const name of world.namespaces) await gone(world, namespaces, name)
  },
}
