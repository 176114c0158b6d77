// Decides a person's role in a tenant from the tenant's roles and the person's groups: the same mapping as the RoleBindings.
// Pure. It says which tenants a person has a part in; what they may read and do there is decided by RBAC alone.
import { userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { groupOf, type RoleSubject } from './groups.ts'

export type TenantRole = Tenant['spec']['roles'][number]['role']
/** A person as tokens name them: subject and groups as `src/api/names.ts` spells them. */
export type Identity = { readonly subject: string; readonly groups: readonly string[] }

/** Highest first. */
const rolesByRank: readonly TenantRole[] = ['admin', 'developer', 'viewer', 'auditor']

function holds({ subject, groups }: Identity, { account }: Tenant['spec'], role: RoleSubject): boolean {
  if (role.type === 'User') return role.id !== undefined && subject === userSubject(account.host, role.id)
  const group = groupOf(account, role)
  return group !== undefined && groups.includes(group)
}

/** The highest role; undefined for a person without a role. */
export function tenantRole(identity: Identity, tenant: Tenant): TenantRole | undefined {
  const held = tenant.spec.roles.filter(({ subject }) => holds(identity, tenant.spec, subject)).map(({ role }) => role)
  return rolesByRank.find(role => held.includes(role))
}

export type HeldTenant = { readonly tenant: Tenant; readonly role: TenantRole }

/** The tenants in which the person has a role, in the order given. */
export function heldTenants(identity: Identity, tenants: readonly Tenant[]): readonly HeldTenant[] {
  return tenants.flatMap(tenant => {
    const role = tenantRole(identity, tenant)
    return role === undefined ? [] : [{ tenant, role }]
  })
}
