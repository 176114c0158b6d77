// The RBAC of our own processes from the lists in src/api/rights: the ClusterRoles that the Tenant controller binds in tenants' namespaces, which
// both forms share, and for each ServiceAccount of a form its roles and bindings.
import { stringify } from 'yaml'
import { type Mode, namespaceRoles, type PlatformProcess, platformNamespace } from '../../src/api/names.ts'
import { type Place, type PlatformAccount, platformAccounts, type Right, roleRule } from '../../src/api/rights/index.ts'

const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`
const labels = { 'app.kubernetes.io/part-of': 'sekisho' }

const intro: Readonly<Record<Mode, string>> = {
  production:
    'Its rights outside of tenants’ namespaces; there it has those that the Tenant controller binds (../namespace-roles.yaml).',
  standalone:
    'One process is broker, controllers and admission, so one ServiceAccount has the rights of all three. In tenants’ namespaces it has those that the Tenant controller binds (../namespace-roles.yaml).',
}

function introOf(mode: Mode, { rights }: PlatformAccount): string {
  return rights.length === 0 ? 'It has no right at all, because it does not call the API server.' : intro[mode]
}

type Subject = Pick<PlatformAccount, 'name'>

/** Paths below deploy/rbac and their text, without the banner. */
export function platformRoleFiles(): ReadonlyMap<string, string> {
  const files = new Map([['namespace-roles.yaml', namespaceRolesYaml()]])
  for (const mode of ['standalone', 'production'] as const) {
    const accounts = platformAccounts(mode).map(account => ({ account, file: fileOf(mode, account) }))
    for (const { account, file } of accounts)
      files.set(`${mode}/${file}`, `# ${introOf(mode, account)}\n${accountYaml(mode, account)}`)
    const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' }
    files.set(`${mode}/kustomization.yaml`, stringify({ ...kustomization, resources: accounts.map(({ file }) => file) }))
  }
  return files
}

function fileOf(mode: Mode, { processes }: PlatformAccount): string {
  return mode === 'standalone' ? 'platform.yaml' : `${processes[0]}.yaml`
}

function rightsOf(process: PlatformProcess, place: Place): readonly Right[] {
  return platformAccounts('production')
    .filter(({ processes }) => processes.includes(process))
    .flatMap(({ rights }) => rights.filter(right => right.place === place))
}

function namespaceRolesYaml(): string {
  const comment = [
    'What our own processes may do in the namespaces of tenants. Bound there by the Tenant controller, by RoleBindings of these processes only, and',
    'nowhere else: no process has these rights in the whole cluster. Which file needs which right: docs/reference/rights.md.',
  ]
  const roles = [
    role('ClusterRole', { name: namespaceRoles.brokerInApplications }, rightsOf('broker', 'application')),
    role('ClusterRole', { name: namespaceRoles.controllersInApplications }, rightsOf('controllers', 'application')),
    role('ClusterRole', { name: namespaceRoles.controllersInBuilds }, rightsOf('controllers', 'build')),
  ]
  return `${comment.map(line => `# ${line}\n`).join('')}${roles.join('---\n')}`
}

function accountYaml(mode: Mode, account: PlatformAccount): string {
  const { name, rights } = account
  const roleName = mode === 'standalone' ? 'sekisho:platform' : `sekisho:${account.processes[0]}`
  const inPlace = (place: Place): readonly Right[] => rights.filter(right => right.place === place)
  const namespaced = (place: Place, namespace: string): readonly string[] =>
    inPlace(place).length === 0
      ? []
      : [role('Role', { name: roleName, namespace }, inPlace(place)), binding('Role', { name: roleName, namespace }, { name })]
  return [
    stringify({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: platformNamespace, labels } }),
    ...(inPlace('cluster').length === 0
      ? []
      : [role('ClusterRole', { name: roleName }, inPlace('cluster')), binding('ClusterRole', { name: roleName }, { name })]),
    ...namespaced('platform', platformNamespace),
    ...namespaced('default', 'default'),
  ].join('---\n')
}

type Named = { readonly name: string; readonly namespace?: string }

function role(kind: 'ClusterRole' | 'Role', metadata: Named, rights: readonly Right[]): string {
  const lines = new Set(rights.map(right => `- ${stringify(roleRule(right), { collectionStyle: 'flow', lineWidth: 0 })}`))
  return `${stringify({ apiVersion, kind, metadata: { ...metadata, labels } })}rules:\n${[...lines].join('')}`
}

function binding(kind: 'ClusterRole' | 'Role', metadata: Named, { name }: Subject): string {
  return stringify({
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { ...metadata, labels },
    roleRef: { apiGroup, kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: platformNamespace }],
  })
}
