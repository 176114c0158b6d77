// What a person may do in a tenant, read from the tenant's roles and the person's groups: the same mapping as the RoleBindings.
// Pure. Decides what the pages and the audit API show; what kubectl may do is decided by RBAC alone.
import { groups, userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'

export type TenantRole = Tenant['spec']['roles'][number]['role']
export type Identity = { readonly subject: string; readonly groups: readonly string[] }

const strength: Readonly<Record<TenantRole, number>> = { viewer: 1, developer: 2, admin: 3 }

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

/** The strongest role, or undefined for somebody who has none. */
export function tenantRole(identity: Identity, tenant: Tenant): TenantRole | undefined {
  const held = tenant.spec.roles.filter(({ subject }) => holds(identity, tenant, subject)).map(({ role }) => role)
  return held.sort((a, b) => strength[b] - strength[a])[0]
}

export function isPlatformAdmin(identity: Identity, admins: readonly string[]): boolean {
  return admins.includes(identity.subject) || identity.groups.some(group => admins.includes(group))
}
