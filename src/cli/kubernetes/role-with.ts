// Which role of a tenant a refused request takes. Loaded only then: it needs the definitions of all kinds. Pure.
import { tenantRoles } from '../../api/names.ts'
import { tenantRoleRules } from '../../api/tenancy/tenant-roles.ts'

/** The least role whose rules contain the request, in the words of Tenant.spec.roles; undefined when none does. */
export function roleWith(group: string, resource: string, verb: string): string | undefined {
  const rules = tenantRoleRules()
  const found = Object.entries(tenantRoles).find(([, name]) =>
    rules
      .get(name)
      ?.some(
        ({ apiGroups, resources, verbs }) => apiGroups.includes(group) && resources.includes(resource) && verbs.includes(verb),
      ),
  )
  return found?.[0]
}
