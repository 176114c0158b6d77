// Who has which tenant role: the RoleBindings of a Tenant from people and teams on GitHub, by numeric id, to the closed
// ClusterRoles. Pure. They are made for the tenant's own namespace only: in its build namespace nobody has a role.
import type { RoleSubject } from '../../../api/builtin/index.ts'
import { groups, tenantRoles, userSubject } from '../../../api/names.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { compareText } from '../../../lib/text/compare-text.ts'

type Mapping = Tenant['spec']['roles'][number]
type RoleName = keyof typeof tenantRoles

const apiGroup = 'rbac.authorization.k8s.io'
const roleNames: readonly RoleName[] = ['viewer', 'developer', 'admin', 'auditor']

export type DesiredBinding = {
  readonly name: string
  readonly roleRef: { readonly apiGroup: string; readonly kind: 'ClusterRole'; readonly name: string }
  readonly subjects: readonly RoleSubject[]
}

/** Every name that our bindings can have: those that are not desired are deleted. */
export const bindingNames: readonly string[] = Object.values(tenantRoles)

/** One binding for each role that somebody has; sorted subjects, so that equal Tenants have equal bindings. */
export function desiredBindings({ account, roles }: Tenant['spec']): readonly DesiredBinding[] {
  return roleNames.flatMap(role => {
    const names = new Map<string, RoleSubject>()
    for (const mapping of roles) {
      if (mapping.role !== role) continue
      const subject = roleSubject(account, mapping.subject)
      if (subject) names.set(`${subject.kind} ${subject.name}`, subject)
    }
    if (names.size === 0) return []
    const subjects = [...names.values()].sort((a, b) => compareText(a.name, b.name))
    return [{ name: tenantRoles[role], roleRef: { apiGroup, kind: 'ClusterRole', name: tenantRoles[role] }, subjects }]
  })
}

/** Undefined for what cannot exist: a team of a person's account, or a team or user without an id. */
function roleSubject(account: Tenant['spec']['account'], { type, id }: Mapping['subject']): RoleSubject | undefined {
  const { host } = account
  const group = (name: string): RoleSubject => ({ kind: 'Group', apiGroup, name })
  const person = (userId: number): RoleSubject => ({ kind: 'User', apiGroup, name: userSubject(host, userId) })
  const isPerson = account.type === 'User'
  switch (type) {
    case 'User':
      return id === undefined ? undefined : person(id)
    case 'Team':
      return id === undefined || isPerson ? undefined : group(groups.team(host, account.id, id))
    case 'Owners':
      return isPerson ? person(account.id) : group(groups.owners(host, account.id))
    case 'Members':
      return isPerson ? person(account.id) : group(groups.members(host, account.id))
  }
}
