// The closed roles of tenants as data (docs/adr/0009): rights on our kinds follow from each kind's `tenantAccess`, rights on
// built-in kinds are the tables below. Every resource and verb is named: nothing aggregates into these roles, and they must
// never contain a wildcard.
import { auditReading } from '../audit/audit-access.ts'
import { approvalRight } from '../github/grant-approval.ts'
import type { TenantAccess } from '../kind.ts'
import { buildLogAccess, tenantRoles } from '../names.ts'
import { kinds } from '../registry.ts'
import { tenantAuditorRules } from './auditor-roles.ts'

/** A rule of rbac.authorization.k8s.io/v1. */
export type RoleRule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** What the roles leave out, and why; written at the top of the generated file. */
export const leftOut = `\
- secrets get/list/watch: a user who reads Secrets has whatever any controller stores there. patch, delete and deletecollection are left out
  too: the API server answers them with the data (dry run, finalizers, error texts). create and update return the sender's own body.
- pods/portforward, proxy, ephemeralcontainers; services/proxy: they reach into pods that hold a delivered token. pods/exec does, too: the
  policy sekisho-pod-exec closes it in a namespace while a grant names a ServiceAccount there. pods/attach: the policy sekisho-pod-attach leaves
  of it the pods of one's own commands.
- serviceaccounts/token, impersonate, bind, escalate, roles and rolebindings: they give their holder another identity or more rights.
- ingresses (write): a host name belongs to the tenant that the platform gave it to; a tenant names domains in an Application, whose chart
  creates the Ingress. With Ingresses of its own one tenant could take another's host name.
- namespaces (write), resourcequotas, limitranges, networkpolicies (write): they contain the tenant.
- installations (write) and grants (update, patch): only the broker binds, and a grant must stay what was decided.
- the status of our kinds (write): only controllers report what was observed.`

const read = ['get', 'list', 'watch']
const write = ['create', 'update', 'patch', 'delete']
type Writer = 'developer' | 'admin'
const changes: Readonly<Record<TenantAccess, Readonly<Record<Writer, readonly string[]>>>> = {
  read: { developer: [], admin: [] },
  'create-delete': { developer: ['create', 'delete'], admin: ['create', 'delete'] },
  'create-change-by-admin': { developer: [], admin: ['create', 'update', 'patch'] },
  'create-delete-by-admin': { developer: [], admin: ['create', 'delete'] },
  'write-by-admin': { developer: [], admin: write },
  write: { developer: write, admin: write },
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): RoleRule => ({
  apiGroups: [group],
  resources,
  verbs,
})

const buildLogs: RoleRule = rule(
  buildLogAccess.group,
  [`${buildLogAccess.resource}/${buildLogAccess.subresource}`],
  [buildLogAccess.verb],
)

const approval: RoleRule = rule(approvalRight.group, [approvalRight.resource], [approvalRight.verb])

const auditLog: RoleRule = rule(auditReading.group, [auditReading.resource], [auditReading.verb])

const builtInReads: readonly RoleRule[] = [
  rule('', ['pods', 'pods/log', 'pods/status', 'events', 'services', 'endpoints', 'persistentvolumeclaims', 'configmaps'], read),
  rule('', ['serviceaccounts', 'resourcequotas', 'limitranges'], read),
  rule('events.k8s.io', ['events'], read),
  rule('apps', ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], read),
  rule('batch', ['jobs', 'cronjobs'], read),
  rule('networking.k8s.io', ['ingresses', 'networkpolicies'], read),
  rule('discovery.k8s.io', ['endpointslices'], read),
  rule('autoscaling', ['horizontalpodautoscalers'], read),
  rule('policy', ['poddisruptionbudgets'], read),
]

/** A built-in kind that tenants create, or have controllers create for them, and how many of it a tenant's namespace may hold. */
export type BoundedKind = {
  readonly group: string
  readonly plural: string
  readonly verbs: readonly string[]
  readonly most: number
  /** As many more for each Application that the tenant may have. */
  readonly perApplication?: number
}

const bounded = (group: string, plural: string, verbs: readonly string[], most: number): BoundedKind => ({
  group,
  plural,
  verbs,
  most,
})

/**
 * One table for the roles and the quota, so that no kind can be created without a bound. The kinds without verbs follow from
 * others: a Deployment makes ReplicaSets (Kubernetes keeps eleven, our chart four), a StatefulSet revisions, a chart Ingresses.
 * Each object takes at most the 1.5 MB of an etcd request, ConfigMaps and Secrets 1 MB. EndpointSlices must not be counted:
 * where Kubernetes may not create one, the addresses of deleted pods stay in the others (docs/adr/0058-ports-of-a-service.md).
 */
export const boundedKinds: readonly BoundedKind[] = [
  bounded('', 'pods', ['create', 'delete'], 300),
  // One for each Application: that of its grants.
  { ...bounded('', 'serviceaccounts', ['create', 'delete'], 50), perApplication: 1 },
  { ...bounded('', 'services', write, 50), perApplication: 1 },
  bounded('', 'configmaps', write, 100),
  bounded('', 'persistentvolumeclaims', write, 20),
  // Six for each Application: those behind two AppSecrets and four ServiceBindings.
  { ...bounded('', 'secrets', ['create', 'update'], 100), perApplication: 6 },
  { ...bounded('apps', 'deployments', write, 30), perApplication: 2 },
  bounded('apps', 'statefulsets', write, 20),
  { ...bounded('apps', 'replicasets', [], 330), perApplication: 8 },
  bounded('apps', 'controllerrevisions', [], 200),
  bounded('batch', 'jobs', write, 150),
  bounded('batch', 'cronjobs', write, 30),
  bounded('autoscaling', 'horizontalpodautoscalers', write, 50),
  bounded('policy', 'poddisruptionbudgets', write, 50),
  { ...bounded('networking.k8s.io', 'ingresses', [], 20), perApplication: 1 },
]

const builtInChanges: readonly RoleRule[] = [
  ...boundedKinds.filter(({ verbs }) => verbs.length > 0).map(({ group, plural, verbs }) => rule(group, [plural], verbs)),
  // A WebSocket needs both verbs (gate AuthorizePodWebsocketUpgradeCreatePermission).
  rule('', ['pods/exec', 'pods/attach'], ['get', 'create']),
  rule('apps', ['deployments/scale', 'statefulsets/scale', 'replicasets/scale'], ['get', 'update', 'patch']),
]

/** `kubectl scale` reads and patches the subresource. */
const scales: readonly RoleRule[] = kinds
  .filter(({ options }) => options.scale !== undefined && options.tenantAccess === 'write')
  .map(({ group, plural }) => rule(group, [`${plural}/scale`], ['get', 'update', 'patch']))

/**
 * The rules of each role. An admin has the rights of a developer, halts, writes GrantPolicies, and reads the audit log. An
 * auditor reads that and what decides about access.
 */
export function tenantRoleRules(): ReadonlyMap<string, readonly RoleRule[]> {
  const writer = (role: Writer): readonly RoleRule[] => {
    const ofKinds = kindRules(access => [...read, ...changes[access][role]])
    return [...builtInReads, ...ofKinds, buildLogs, ...scales, ...builtInChanges]
  }
  return new Map([
    [tenantRoles.viewer, [...builtInReads, ...kindRules(() => read), buildLogs]],
    [tenantRoles.developer, writer('developer')],
    [tenantRoles.admin, [...writer('admin'), approval, auditLog]],
    [tenantRoles.auditor, tenantAuditorRules],
  ])
}

/** One rule for all kinds of a group that have the same verbs. */
function kindRules(verbsOf: (access: TenantAccess) => readonly string[]): readonly RoleRule[] {
  const rules = new Map<string, RoleRule>()
  for (const { group, plural, options } of kinds) {
    if (options.tenantAccess === undefined) continue
    const verbs = verbsOf(options.tenantAccess)
    const key = `${group} ${verbs}`
    rules.set(key, rule(group, [...(rules.get(key)?.resources ?? []), plural], verbs))
  }
  return [...rules.values()]
}
