// Decides a person's role in a tenant from the tenant's roles and the person's groups: the same mapping as the RoleBindings. Pure.
// It decides what the pages and the audit API show; what kubectl may do is decided by RBAC alone.
import { groups, userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'

export type TenantRole = Tenant['spec']['roles'][number]['role']
/** A person as tokens name them: subject and groups as `src/api/names.ts` spells them. */
export type Identity = { readonly subject: string; readonly groups: readonly string[] }

/** Highest first. */
const rolesByRank: readonly TenantRole[] = ['admin', 'developer', 'viewer']

function holds(identity: Identity, tenant: Tenant, subject: Tenant['spec']['roles'][number]['subject']): boolean {
  const { host, id } = tenant.spec.account
  switch (subject.type) {
    case 'Owners':
      return identity.groups.includes(groups.owners(host, id))
    case 'Members':
      return identity.groups.includes(groups.members(host, id))
    case 'Team':
      return subject.id !== undefined && identity.groups.includes(groups.team(host, id, subject.id))
    case 'User':
      return subject.id !== undefined && identity.subject === userSubject(host, subject.id)
  }
}

/** The highest role; undefined for a person without a role. */
export function tenantRole(identity: Identity, tenant: Tenant): TenantRole | undefined {
  const held = tenant.spec.roles.filter(({ subject }) => holds(identity, tenant, subject)).map(({ role }) => role)
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

/** Whether the operator named the person, or a group of theirs, as platform admin. */
export function isPlatformAdmin(identity: Identity, admins: readonly string[]): boolean {
  return admins.includes(identity.subject) || identity.groups.some(group => admins.includes(group))
}
