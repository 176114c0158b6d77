// The RBAC of our own processes from the lists in src/api/rights: roles once, in deploy/rbac, and for each form its
// ServiceAccounts with their bindings, so that no binding names an account that a form does not have
// (docs/adr/0064-one-set-of-policies-and-roles.md).
import { stringify } from 'yaml'
import {
  dataServicesNamespace,
  type Mode,
  modes,
  namespaceRoles,
  type PlatformProcess,
  platformNamespace,
} from '../../src/api/names.ts'
import {
  type Place,
  type PlatformAccount,
  platformAccounts,
  processRights,
  type Right,
  roleRule,
} from '../../src/api/rights/index.ts'
import { wallProbeAccount } from '../../src/api/wall-names.ts'
import { defined } from '../../src/lib/json/defined.ts'

const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`
const labels = { 'app.kubernetes.io/part-of': 'sekisho' }

/** Processes that call the API server. */
const callers = ['broker', 'controllers', 'data-services'] as const

const accountsIntro: Readonly<Record<Mode, string>> = {
  production:
    'A ServiceAccount for each process, bound to the roles of that process; admission has none, because it does not call the API server.',
  standalone:
    'One process is broker, controllers, admission and data-services, so one ServiceAccount is bound to the roles of all.',
}
const inTenants = 'In tenants’ namespaces the Tenant controller binds others (deploy/rbac/namespace-roles.yaml).'

/** Paths below deploy and their text, without the banner. */
export function platformRoleFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['rbac/namespace-roles.yaml', namespaceRolesYaml()],
    ...callers.map((process): [string, string] => [`rbac/${process}.yaml`, processYaml(process)]),
    ...modes.map((mode): [string, string] => [`${mode}/accounts.yaml`, accountsYaml(mode)]),
  ])
}

function namespaceRolesYaml(): string {
  const comment = [
    'What our own processes may do in the namespaces of tenants. Bound there by the Tenant controller, by RoleBindings of these processes only, and',
    'nowhere else: no process has these rights in the whole cluster. Which file needs which right: docs/reference/rights.md.',
  ]
  const inPlace = (process: PlatformProcess, place: Place): readonly Right[] =>
    processRights[process].filter(right => right.place === place)
  const roles = [
    role({ kind: 'ClusterRole', name: namespaceRoles.brokerInApplications }, inPlace('broker', 'application')),
    role({ kind: 'ClusterRole', name: namespaceRoles.controllersInApplications }, inPlace('controllers', 'application')),
    role({ kind: 'ClusterRole', name: namespaceRoles.controllersInBuilds }, inPlace('controllers', 'build')),
    role({ kind: 'ClusterRole', name: namespaceRoles.dataServicesInApplications }, inPlace('data-services', 'application')),
  ]
  return `${comment.map(line => `# ${line}\n`).join('')}${roles.join('---\n')}`
}

type RoleName = { readonly kind: 'ClusterRole' | 'Role'; readonly name: string; readonly namespace?: string }

/** The roles of a process outside of tenants' namespaces, with their rights. */
function rolesOf(process: PlatformProcess): readonly (readonly [RoleName, readonly Right[]])[] {
  const name = `sekisho:${process}`
  const places: readonly (readonly [Place, RoleName])[] = [
    ['cluster', { kind: 'ClusterRole', name }],
    ['platform', { kind: 'Role', name, namespace: platformNamespace }],
    ['data', { kind: 'Role', name, namespace: dataServicesNamespace }],
    ['default', { kind: 'Role', name, namespace: 'default' }],
  ]
  return places
    .map(([place, of]) => [of, processRights[process].filter(right => right.place === place)] as const)
    .filter(([, rights]) => rights.length > 0)
}

function processYaml(process: PlatformProcess): string {
  const comment = `# What the process ${process} may do outside of tenants’ namespaces, in both forms of the platform. The forms bind it.\n`
  return (
    comment +
    rolesOf(process)
      .map(([of, rights]) => role(of, rights))
      .join('---\n')
  )
}

function accountsYaml(mode: Mode): string {
  const accounts = platformAccounts.filter(account => account.mode === mode)
  return `# ${accountsIntro[mode]}\n# ${inTenants}\n${[...accounts.flatMap(objectsOf), wallProbe()].join('---\n')}`
}

/** Bound to nothing: the platform tries its walls as this account, for which it alone gets tokens. */
function wallProbe(): string {
  const metadata = { name: wallProbeAccount, namespace: platformNamespace, labels }
  return yaml({ apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false })
}

/** A role for the lease alone: its name is that of the account. */
function objectsOf({ mode, name, processes, lease }: PlatformAccount): readonly string[] {
  const leaseRole = { kind: 'Role', name: `${name}:lease`, namespace: platformNamespace } as const
  return [
    yaml({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: platformNamespace, labels } }),
    ...processes.flatMap(process => {
      const bindingName = mode === 'standalone' ? `sekisho:standalone-${process}` : `sekisho:${process}`
      return rolesOf(process).map(([of]) => binding(of, bindingName, name))
    }),
    ...(lease.length === 0 ? [] : [role(leaseRole, lease), binding(leaseRole, leaseRole.name, name)]),
  ]
}

function role({ kind, ...metadata }: RoleName, rights: readonly Right[]): string {
  const lines = new Set(rights.map(right => `- ${flow(roleRule(right))}\n`))
  return `${yaml({ apiVersion, kind, metadata: { ...metadata, labels } })}rules:\n${[...lines].join('')}`
}

/** @param name Of the binding: another one in each form, so that one form can never take over the binding of the other. */
function binding({ kind, name: role, namespace }: RoleName, name: string, account: string): string {
  return yaml({
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name, ...defined({ namespace }), labels },
    roleRef: { apiGroup, kind, name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: platformNamespace }],
  })
}

/** A line for each field of the object. */
function yaml(object: Readonly<Record<string, unknown>>): string {
  return Object.entries(object)
    .map(([field, value]) => `${field}: ${flow(value)}\n`)
    .join('')
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()
}
