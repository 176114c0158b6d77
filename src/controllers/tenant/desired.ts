// Everything that a tenant's two namespaces contain before the tenant uses them. Pure; deterministic names, no clock.
// The Tenant controls every object by its uid: that is how ours are recognised, and why an object of another owner is never adopted.
import { createHash } from 'node:crypto'
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../api/builtin/index.ts'
import { buildNamespaceOf, labels } from '../../api/names.ts'
import type { KubeObject, OwnerReference, ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import { applicationQuota, buildQuota, containerDefaults, kindsQuota, priorityQuota } from './limits.ts'
import { applicationNetworkPolicies } from './network/application-network.ts'
import { buildNetworkPolicies } from './network/build-network.ts'
import { desiredBindings } from './role-bindings.ts'
import type { TenantSettings } from './settings.ts'

/** The hash of what was applied: an object with this hash and unchanged fields is not applied again. */
export const desiredHashAnnotation = 'sekisho.dev/desired-hash'

/** The ServiceAccount that build pods run as. It has no permissions, and its pods get no token. */
export const builderServiceAccount = 'builder'

/** The ConfigMap by which workloads trust the token desk, as they trust the API server by kube-root-ca.crt. */
export const authorityConfigMap = 'sekisho-ca'

/** An object to apply, with its hash annotation. */
export type DesiredObject = { readonly type: ResourceType; readonly object: Applied }

type Content = { readonly [field: string]: unknown }

/** The tenant's namespace, then its build namespace. */
export function desiredNamespaces(tenant: Tenant): readonly DesiredObject[] {
  const { namespace } = tenant.spec
  return [namespaceObject(tenant, namespace, 'application'), namespaceObject(tenant, buildNamespaceOf(namespace), 'build')]
}

/** What both namespaces contain, in the order of apply. */
export function desiredContents(tenant: Tenant, settings: TenantSettings): readonly DesiredObject[] {
  const { namespace } = tenant.spec
  const build = buildNamespaceOf(namespace)
  const inside = (type: ResourceType, where: string, name: string, content: Content): DesiredObject =>
    hashed(type, { namespace: where, name, labels: ours(tenant), ownerReferences: [owner(tenant)] }, content)
  return [
    // The policies come first: whatever is made later is never without them.
    ...applicationNetworkPolicies(settings.network).map(({ name, spec }) => inside(networkPolicies, namespace, name, { spec })),
    ...buildNetworkPolicies(settings.network).map(({ name, spec }) => inside(networkPolicies, build, name, { spec })),
    ...desiredBindings(tenant.spec).map(({ name, roleRef, subjects }) =>
      inside(roleBindings, namespace, name, { roleRef, subjects: [...subjects] }),
    ),
    inside(resourceQuotas, namespace, 'tenant', { spec: { hard: applicationQuota() } }),
    inside(resourceQuotas, namespace, 'tenant-kinds', { spec: { hard: kindsQuota(tenant.spec) } }),
    inside(resourceQuotas, namespace, 'tenant-priority', { spec: priorityQuota('application') }),
    inside(limitRanges, namespace, 'tenant', { spec: { limits: [containerDefaults('application')] } }),
    inside(configMaps, namespace, authorityConfigMap, { data: { 'ca.crt': settings.certificateAuthority } }),
    inside(resourceQuotas, build, 'tenant', { spec: { hard: buildQuota() } }),
    inside(resourceQuotas, build, 'tenant-priority', { spec: priorityQuota('build') }),
    inside(limitRanges, build, 'tenant', { spec: { limits: [containerDefaults('build')] } }),
    inside(serviceAccounts, build, builderServiceAccount, { automountServiceAccountToken: false }),
  ]
}

/** Both namespaces enforce Pod Security `restricted`, the strictest level. */
function namespaceObject(tenant: Tenant, name: string, purpose: 'application' | 'build'): DesiredObject {
  const security = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'latest',
    'pod-security.kubernetes.io/warn': 'restricted',
    'pod-security.kubernetes.io/audit': 'restricted',
  }
  const marks = { ...ours(tenant), [labels.namespacePurpose]: purpose, ...security }
  return hashed(namespaces, { name, labels: marks, ownerReferences: [owner(tenant)] }, {})
}

function ours(tenant: Tenant): Readonly<Record<string, string>> {
  return { [labels.tenant]: tenant.metadata.name, [labels.managedBy]: 'sekisho' }
}

function owner(tenant: Tenant): OwnerReference {
  return ownerReference(tenant, { controller: true })
}

function hashed(type: ResourceType, metadata: KubeObject['metadata'], content: Content): DesiredObject {
  const { apiVersion, kind } = type
  const text = canonicalJson({ metadata, ...content } as unknown as JsonValue)
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const annotations = { [desiredHashAnnotation]: hash }
  return { type, object: { apiVersion, kind, metadata: { ...metadata, annotations }, ...content } }
}
