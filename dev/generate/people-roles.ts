// The roles of people of the platform: admins, from the `adminAccess` of each kind, and auditors.
import { stringify } from 'yaml'
import { auditorRole, auditReading } from '../../src/api/audit/audit-access.ts'
import type { AdminAccess } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/registry.ts'
import { auditorRules, checkpointsRule } from '../../src/api/tenancy/auditor-roles.ts'
import type { RoleRule } from '../../src/api/tenancy/tenant-roles.ts'

const ofAdmins = `\
# Platform admins: whoever may \`administer\` the virtual resource \`platforms\`. Policies, pages and the API ask for exactly that, so one
# ClusterRoleBinding to this role makes an admin, and cluster administrators are ones anyway. The policies apply to their writes as well.
`
const ofAuditors = `\
# Auditors of the platform: they read the audit log (the virtual resource \`auditentries\`), its checkpoints, and the objects that decide
# about access. One ClusterRoleBinding to this role makes an auditor, of a person, a team or the ServiceAccount of a program.
`
const changes: Readonly<Record<AdminAccess | 'read', readonly string[]>> = {
  write: ['create', 'update', 'patch', 'delete'],
  'create-change': ['create', 'update', 'patch'],
  'create-delete': ['create', 'delete'],
  delete: ['delete'],
  read: [],
}

/** What tenants use of their limits. */
const usage: RoleRule = { apiGroups: [''], resources: ['resourcequotas'], verbs: ['get', 'list', 'watch'] }

/** Every kind may be read, usage, and the signed checkpoints. */
function adminRules(): readonly RoleRule[] {
  const accesses: readonly (AdminAccess | 'read')[] = ['write', 'create-change', 'create-delete', 'delete', 'read']
  const ofKinds = accesses.flatMap(access => {
    const some = kinds.filter(({ options: { adminAccess = 'read' } }) => adminAccess === access)
    return [...Map.groupBy(some, ({ group }) => group)].map(([group, same]) => ({
      apiGroups: [group],
      resources: same.map(({ plural }) => plural),
      verbs: ['get', 'list', 'watch', ...changes[access]],
    }))
  })
  const reading = { apiGroups: [auditReading.group], resources: [auditReading.resource], verbs: [auditReading.verb] }
  return [
    { apiGroups: ['sekisho.dev'], resources: ['platforms'], verbs: ['administer'] },
    reading,
    ...ofKinds,
    usage,
    checkpointsRule,
  ]
}

/** The ClusterRole of platform admins as YAML, without the banner. */
export function platformAdminYaml(): string {
  return clusterRole('sekisho:platform-admin', adminRules(), ofAdmins)
}

/** The same of auditors. */
export function auditorYaml(): string {
  return clusterRole(auditorRole, auditorRules, ofAuditors)
}

function clusterRole(name: string, rules: readonly RoleRule[], comment: string): string {
  const head = stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } })
  const lines = rules.map(rule => `- ${stringify(rule, { collectionStyle: 'flow', lineWidth: 0 })}`)
  return `${comment}${head}rules:\n${lines.join('')}`
}
