// The role of platform admins, from the `adminAccess` of each kind.
import { stringify } from 'yaml'
import type { AdminAccess } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/registry.ts'
import type { RoleRule } from '../../src/api/tenancy/tenant-roles.ts'

const comment = `\
# Platform admins: whoever may \`administer\` the virtual resource \`platforms\`. Policies, pages and the API ask for exactly that, so one
# ClusterRoleBinding to this role makes an admin, and cluster administrators are ones anyway. The policies apply to their writes as well.
`
const changes: Readonly<Record<AdminAccess | 'read', readonly string[]>> = {
  write: ['create', 'update', 'patch', 'delete'],
  'create-change': ['create', 'update', 'patch'],
  delete: ['delete'],
  read: [],
}

/** Every kind may be read. */
function rules(): readonly RoleRule[] {
  const accesses: readonly (AdminAccess | 'read')[] = ['write', 'create-change', 'delete', 'read']
  const ofKinds = accesses.flatMap(access => {
    const some = kinds.filter(({ options: { adminAccess = 'read' } }) => adminAccess === access)
    return [...Map.groupBy(some, ({ group }) => group)].map(([group, same]) => ({
      apiGroups: [group],
      resources: same.map(({ plural }) => plural),
      verbs: ['get', 'list', 'watch', ...changes[access]],
    }))
  })
  return [{ apiGroups: ['sekisho.dev'], resources: ['platforms'], verbs: ['administer'] }, ...ofKinds]
}

/** The ClusterRole as YAML, without the banner. */
export function platformAdminYaml(): string {
  const metadata = { name: 'sekisho:platform-admin' }
  const head = stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata })
  const lines = rules().map(rule => `- ${stringify(rule, { collectionStyle: 'flow', lineWidth: 0 })}`)
  return `${comment}${head}rules:\n${lines.join('')}`
}
