// Everything that a tenant's two namespaces contain before the tenant uses them. Pure; deterministic names, no clock. The
// Tenant controls every object by its uid: that is how ours are recognised, and why an object of another owner is never
// adopted.

import { authorityConfigMap } from '../../api/application-account.ts'
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  secrets,
  serviceAccounts,
} from '../../api/builtin/index.ts'
import { builderServiceAccount } from '../../api/dockerfile-build.ts'
import { buildNamespaceOf, isolatedServiceAccount, labels, registrySecrets } from '../../api/names.ts'
import type { KubeObject, OwnerReference, ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import { secretData, type TenantCredentials } from '../../services/registry/tenant-registry.ts'
import { applicationQuota, buildQuota, containerDefaults, kindsQuota, priorityQuota } from './limits.ts'
import { applicationNetworkPolicies } from './network/application-network.ts'
import { buildNetworkPolicies } from './network/build-network.ts'
import { type PlatformAccounts, platformBindings, rightsFinalizer } from './rights/platform-bindings.ts'
import { desiredBindings } from './rights/role-bindings.ts'
import type { ClassMarks } from './runtime/choose-classes.ts'
import type { TenantSettings } from './settings.ts'
import { scriptsConfigMap, workloadScripts } from './workload-scripts/workload-scripts.ts'

/** The field manager of the namespaces, of their contents and of the status. */
export const fieldManager = 'sekisho.dev/tenant'

/** The hash of what was applied: an object with this hash and unchanged fields is not applied again. */
export const desiredHashAnnotation = 'sekisho.dev/desired-hash'

/** The ServiceAccount of pods that name none. Kubernetes creates it, too. */
export const defaultServiceAccount = 'default'

/** An object to apply, with its hash annotation. */
export type DesiredObject = { readonly type: ResourceType; readonly object: Applied }

type Content = { readonly [field: string]: unknown }

/** The tenant's namespace, then its build namespace. */
export function desiredNamespaces(
  tenant: Tenant,
  { buildsDockerfiles }: Pick<TenantSettings, 'buildsDockerfiles'>,
  { firstUser, classes }: { readonly firstUser: number; readonly classes: ClassMarks },
): readonly DesiredObject[] {
  const { namespace } = tenant.spec
  return [
    namespaceObject(tenant, namespace, { purpose: 'application', enforced: 'restricted', firstUser, classes }),
    namespaceObject(tenant, buildNamespaceOf(namespace), {
      purpose: 'build',
      enforced: buildsDockerfiles ? 'privileged' : 'restricted',
      firstUser,
      classes,
    }),
  ]
}

/** The rights of our own processes in both namespaces: they come before everything else, because everything else needs them. */
export function desiredRights(tenant: Tenant, accounts: PlatformAccounts): readonly DesiredObject[] {
  const { namespace } = tenant.spec
  const inside = (purpose: 'application' | 'build', where: string): readonly DesiredObject[] =>
    platformBindings(purpose, accounts).map(({ name, roleRef, subjects }) => {
      const finalizers = [rightsFinalizer]
      const metadata = { namespace: where, name, labels: ours(tenant), ownerReferences: [owner(tenant)], finalizers }
      return hashed(roleBindings, metadata, { roleRef, subjects: [...subjects] })
    })
  return [...inside('application', namespace), ...inside('build', buildNamespaceOf(namespace))]
}

/** What both namespaces contain besides, in the order of apply. */
export function desiredContents(
  tenant: Tenant,
  settings: TenantSettings,
  credentials: TenantCredentials,
): readonly DesiredObject[] {
  const { namespace } = tenant.spec
  const build = buildNamespaceOf(namespace)
  const inside = (type: ResourceType, where: string, name: string, content: Content): DesiredObject =>
    hashed(type, { namespace: where, name, labels: ours(tenant), ownerReferences: [owner(tenant)] }, content)
  return [
    // The policies come first: whatever is made later is never without them.
    ...applicationNetworkPolicies(settings.network).map(({ name, spec }) => inside(networkPolicies, namespace, name, { spec })),
    ...buildNetworkPolicies(settings.network, settings.buildsDockerfiles).map(({ name, spec }) =>
      inside(networkPolicies, build, name, { spec }),
    ),
    ...desiredBindings(tenant.spec).map(({ name, roleRef, subjects }) =>
      inside(roleBindings, namespace, name, { roleRef, subjects: [...subjects] }),
    ),
    inside(resourceQuotas, namespace, 'tenant', { spec: { hard: applicationQuota(tenant.spec) } }),
    inside(resourceQuotas, namespace, 'tenant-kinds', { spec: { hard: kindsQuota(tenant.spec) } }),
    inside(resourceQuotas, namespace, 'tenant-priority', { spec: priorityQuota('application') }),
    inside(limitRanges, namespace, 'tenant', { spec: { limits: [containerDefaults('application')] } }),
    inside(configMaps, namespace, authorityConfigMap, { data: { 'ca.crt': settings.certificateAuthorities() } }),
    inside(configMaps, namespace, scriptsConfigMap, { data: workloadScripts(settings.addresses) }),
    inside(resourceQuotas, build, 'tenant', { spec: { hard: buildQuota() } }),
    inside(resourceQuotas, build, 'tenant-priority', { spec: priorityQuota('build') }),
    inside(limitRanges, build, 'tenant', { spec: { limits: [containerDefaults('build')] } }),
    ...registryContents(credentials).map(({ type, purpose, name, content }) =>
      inside(type, purpose === 'build' ? build : namespace, name, content),
    ),
  ]
}

type RegistryContent = {
  readonly type: ResourceType
  readonly purpose: 'build' | 'pull'
  readonly name: string
  readonly content: Content
}

/**
 * The registry credentials and the ServiceAccounts that use them. Builds push with the one in the build namespace, which no
 * tenant can read. The one in the tenant's namespace pulls the tenant's own images and nothing else; pods that name no
 * ServiceAccount use it through `default`, and those of isolated Applications through their own.
 */
function registryContents(credentials: TenantCredentials): readonly RegistryContent[] {
  const builder = { type: serviceAccounts, purpose: 'build', name: builderServiceAccount } as const
  const withoutToken = { automountServiceAccountToken: false }
  const isolated = { type: serviceAccounts, purpose: 'pull', name: isolatedServiceAccount } as const
  if (credentials.kind !== 'credentials')
    return [
      { ...builder, content: withoutToken },
      { ...isolated, content: withoutToken },
    ]
  const secret = (purpose: 'build' | 'pull'): RegistryContent => ({
    type: secrets,
    purpose,
    name: registrySecrets[purpose],
    content: { type: 'kubernetes.io/dockerconfigjson', data: secretData(credentials[purpose]) },
  })
  const references = (purpose: 'build' | 'pull') => [{ name: registrySecrets[purpose] }]
  return [
    secret('build'),
    secret('pull'),
    // kpack authenticates with `secrets`; the kubelet pulls the builder image with `imagePullSecrets`.
    { ...builder, content: { ...withoutToken, secrets: references('build'), imagePullSecrets: references('build') } },
    { type: serviceAccounts, purpose: 'pull', name: defaultServiceAccount, content: { imagePullSecrets: references('pull') } },
    { ...isolated, content: { ...withoutToken, imagePullSecrets: references('pull') } },
  ]
}

type NamespaceKind = {
  readonly purpose: 'application' | 'build'
  readonly enforced: 'restricted' | 'privileged'
  readonly firstUser: number
  readonly classes: ClassMarks
}

/**
 * Pod Security enforces `restricted`, the strictest level. Where Dockerfiles are built it cannot: then the policy build-pods
 * holds all pods of the build namespace to it except those builds.
 */
function namespaceObject(tenant: Tenant, name: string, { purpose, enforced, firstUser, classes }: NamespaceKind): DesiredObject {
  const security = {
    'pod-security.kubernetes.io/enforce': enforced,
    'pod-security.kubernetes.io/enforce-version': 'latest',
    'pod-security.kubernetes.io/warn': 'restricted',
    'pod-security.kubernetes.io/audit': 'restricted',
  }
  const users = { [labels.firstUser]: String(firstUser) }
  const { labels: runtime, annotations } = classes[purpose]
  const marks = { ...ours(tenant), [labels.namespacePurpose]: purpose, ...users, ...runtime, ...security }
  return hashed(namespaces, { name, labels: marks, annotations, ownerReferences: [owner(tenant)] }, {})
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
  const hash = shortHash(text, 32)
  const annotations = { ...metadata.annotations, [desiredHashAnnotation]: hash }
  return { type, object: { apiVersion, kind, metadata: { ...metadata, annotations }, ...content } }
}
