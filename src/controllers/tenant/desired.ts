// Everything a Tenant has before its people come: two namespaces, roles, limits, network walls, the builder's identity. Pure, deterministic.
import { createHash } from 'node:crypto'
import { buildNamespaceOf, groups, labels, platformNamespace, tenantRoles, userSubject } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenant.ts'
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../kube/builtin.ts'
import type { Applied } from '../../kube/client.ts'
import { ownerReference } from '../../kube/owner.ts'
import { canonicalJson, type JsonValue } from '../../lib/canonical-json.ts'

export const desiredHashAnnotation = 'sekisho.dev/desired'
/** Workloads trust the token desk by this ConfigMap, as they trust the API server by kube-root-ca.crt. */
export const authorityConfigMap = 'sekisho-ca'
export const builderServiceAccount = 'builder'

export type Desired = { readonly type: ResourceType<KubeObject>; readonly object: Applied }

export type DesiredInput = {
  readonly tenant: Tenant
  /** PEM of the authority that signed the token desk's certificate. */
  readonly certificateAuthority: string
  readonly registryPort: number
}

const rbacGroup = 'rbac.authorization.k8s.io'
const sourcePort = 8081

/** Namespaces first: the rest stands in them. */
export function desiredObjects(input: DesiredInput): readonly Desired[] {
  const { tenant } = input
  const applications = tenant.spec.namespace
  const builds = buildNamespaceOf(applications)
  const make = (type: ResourceType<KubeObject>, namespace: string | undefined, name: string, fields: JsonFields): Desired => ({
    type,
    object: finish(tenant, type, namespace, name, fields),
  })
  return [
    make(namespaces, undefined, applications, namespaceFields('applications')),
    make(namespaces, undefined, builds, namespaceFields('builds')),
    ...(['viewer', 'developer', 'admin'] as const).map(role =>
      make(roleBindings, applications, tenantRoles[role], {
        roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: tenantRoles[role] },
        ...subjectsOf(tenant, role),
      }),
    ),
    make(resourceQuotas, applications, 'sekisho', { spec: { hard: applicationQuota(tenant) } }),
    make(limitRanges, applications, 'sekisho', { spec: { limits: [containerLimits] } }),
    make(networkPolicies, applications, 'sekisho', { spec: applicationsPolicy }),
    make(configMaps, applications, authorityConfigMap, { data: { 'ca.crt': input.certificateAuthority } }),
    make(serviceAccounts, builds, builderServiceAccount, { automountServiceAccountToken: false }),
    make(resourceQuotas, builds, 'sekisho', { spec: { hard: { pods: '50', services: '0', persistentvolumeclaims: '50' } } }),
    make(networkPolicies, builds, 'sekisho', { spec: buildsPolicy(input.registryPort) }),
  ]
}

type JsonFields = { readonly [key: string]: JsonValue }

function finish(tenant: Tenant, type: ResourceType, namespace: string | undefined, name: string, fields: JsonFields): Applied {
  const { labels: extra, ...rest } = fields
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      [labels.tenant]: tenant.metadata.name,
      [labels.managedBy]: 'sekisho',
      ...(extra as Record<string, string> | undefined),
    },
    ownerReferences: [ownerReference(tenant, { controller: true })],
  }
  const body = { apiVersion: type.apiVersion, kind: type.kind, metadata, ...rest }
  const hash = createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(body))))
    .digest('hex')
    .slice(0, 32)
  return { ...body, metadata: { ...metadata, annotations: { [desiredHashAnnotation]: hash } } }
}

function namespaceFields(purpose: 'applications' | 'builds'): JsonFields {
  return {
    labels: {
      [labels.namespacePurpose]: purpose,
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
  }
}

/** People and groups by numeric ids: a renamed team stays the same team, a reused name is another. */
function subjectsOf(tenant: Tenant, role: 'viewer' | 'developer' | 'admin'): JsonFields {
  const { host, id: organization } = tenant.spec.account
  const subjects = tenant.spec.roles
    .filter(item => item.role === role)
    .map(({ subject }) => {
      const { type, id = 0 } = subject
      if (type === 'User') return { kind: 'User', apiGroup: rbacGroup, name: userSubject(host, id) }
      const name =
        type === 'Team'
          ? groups.team(host, organization, id)
          : type === 'Owners'
            ? groups.owners(host, organization)
            : groups.members(host, organization)
      return { kind: 'Group', apiGroup: rbacGroup, name }
    })
  // The server stores an empty list as none.
  return subjects.length === 0 ? {} : { subjects }
}

function applicationQuota(tenant: Tenant): Record<string, string> {
  const applications = tenant.spec.limits?.applications ?? 50
  return {
    'count/applications.apps.sekisho.dev': String(applications),
    'count/remotesyncs.apps.sekisho.dev': String(applications),
    'count/repositorygrants.github.sekisho.dev': String(applications * 4),
    pods: '200',
    secrets: '500',
    configmaps: '500',
    'services.loadbalancers': '0',
    'services.nodeports': '0',
  }
}

const containerLimits = { type: 'Container', default: { memory: '256Mi' }, defaultRequest: { cpu: '50m', memory: '64Mi' } }

/** Other tenants' pods do not reach these; the ingress controller and the tenant's own pods do. */
const applicationsPolicy: JsonValue = {
  podSelector: {},
  policyTypes: ['Ingress'],
  ingress: [
    {
      from: [
        { podSelector: {} },
        { namespaceSelector: { matchExpressions: [{ key: labels.tenant, operator: 'DoesNotExist' }] } },
      ],
    },
  ],
}

/** Builds take no calls; they reach DNS, the source store, the registry, and package registries, but not a cloud's metadata address. */
function buildsPolicy(registryPort: number): JsonValue {
  const tcp = (port: number): JsonValue => ({ protocol: 'TCP', port })
  return {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [
      { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
      {
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': platformNamespace } } }],
        ports: [tcp(sourcePort)],
      },
      {
        to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }],
        ports: [...new Set([80, 443, registryPort])].map(tcp),
      },
    ],
  }
}
