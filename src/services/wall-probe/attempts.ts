// What is tried, as data. Every write is a dry run; connections and tokens have none, so these name a pod and a ServiceAccount
// that do not exist, as reads name Secrets that do not: whoever is let through gets nothing. Nothing here must ever be sent
// without its dry run.
import { deployments, namespaces, networkPolicies, pods, roleBindings, secrets } from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { namespacesOf, platformNamespace, reservedSecretPrefix, tenantRoles } from '../../api/names.ts'
import { reservedSecretPrefixes, tokenSecretName } from '../../api/reserved-secrets.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { type Tenant, tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { KubeClient, NewObject, WriteOptions } from '../../kube/client/client.ts'
import { defined } from '../../lib/json/defined.ts'
import type { WallName } from './walls.ts'

type Sender = Pick<KubeClient, 'get' | 'list' | 'create'>

export type Attempt = {
  readonly wall: WallName
  /** `nobody`: a ServiceAccount without rights. `controllers`: RBAC allows it, and a policy has to refuse it. */
  readonly as: 'nobody' | 'controllers'
  /** The namespace of a tenant. */
  readonly where?: string
  /** For the text of a finding. */
  readonly what: string
  /** For `controllers`: what the answer of that wall says. Another rule that refuses as well proves nothing of it. */
  readonly refusedBy?: RegExp
  /** What answers only after that wall let it through. */
  readonly behind?: RegExp
  /** Resolves when it was allowed. */
  readonly send: (client: Sender) => Promise<unknown>
}

export const fieldManager = 'sekisho.dev/wall-probe'
const dryRun: WriteOptions = { fieldManager, dryRun: true }
/** Of objects that never exist. */
const absent = 'wall-probe'
const reserved = `${reservedSecretPrefix}${absent}`

const rbac = 'rbac.authorization.k8s.io'
const image = 'registry.invalid/wall-probe'

/** What `restricted` and the quotas of a tenant let pass, so that only what is tried can be refused. */
const container = {
  name: absent,
  image,
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '16Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
}
const withReservedSecret = { containers: [{ ...container, envFrom: [{ secretRef: { name: reserved } }] }] }
/** The token of another ServiceAccount, where pods may have that of their own. */
const tokenOfAnother = tokenSecretName(absent, absent)
const withTokenOfAnother = {
  serviceAccountName: 'default',
  containers: [container],
  volumes: [{ name: absent, secret: { secretName: tokenOfAnother } }],
}

function create<T extends KubeObject>(type: ResourceType<T>, namespace: string | undefined, content: object): Attempt['send'] {
  const { apiVersion, kind } = type
  const metadata = { name: absent, ...defined({ namespace }) }
  const object = { apiVersion, kind, metadata, ...content } as unknown as NewObject<T>
  return client => client.create(type, object, dryRun)
}

/** A POST to a subresource of something that does not exist: 404 for whoever is let through. */
function post(namespace: string, path: string, body: { readonly apiVersion: string; readonly kind: string }): Attempt['send'] {
  const type: ResourceType = { apiVersion: 'v1', kind: body.kind, plural: path, namespaced: true }
  return client => client.create(type, { ...body, metadata: { namespace }, spec: {} } as NewObject<KubeObject>, dryRun)
}

const connections = ['exec', 'attach', 'portforward'] as const

/** In every namespace that is not everybody's. */
function inNamespace(namespace: string, where: { readonly where?: string }): readonly Attempt[] {
  const nobody = { as: 'nobody', ...where } as const
  const secretNames = reservedSecretPrefixes.map(prefix => `${prefix}${absent}`)
  return [
    ...secretNames.map(name => ({
      ...nobody,
      wall: 'secrets' as const,
      what: `read the Secret ${name}`,
      send: (client: Sender) => client.get(secrets, { namespace, name }),
    })),
    {
      ...nobody,
      wall: 'secrets',
      what: 'list Secrets',
      // Selects none: whoever is let through gets an empty list.
      send: client => client.list(secrets, { namespace, labelSelector: `sekisho.dev/${absent}` }),
    },
    {
      ...nobody,
      wall: 'secrets',
      what: `make a pod with the Secret ${reserved}`,
      send: create(pods, namespace, { spec: withReservedSecret }),
    },
    ...connections.map(connection => ({
      ...nobody,
      wall: 'pod-connections' as const,
      what: `${connection} to a pod`,
      send: post(namespace, `pods/${absent}/${connection}`, { apiVersion: 'v1', kind: 'Pod' }),
    })),
    {
      ...nobody,
      wall: 'account-tokens',
      what: 'make a token of a ServiceAccount',
      send: post(namespace, `serviceaccounts/${absent}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }),
    },
  ]
}

/** Nobody of GitHub has this id. */
const bindingContent = {
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: tenantRoles.viewer },
  subjects: [{ apiGroup: rbac, kind: 'User', name: 'github|wall-probe.invalid|1' }],
}

const installationSpec = {
  app: absent,
  installationId: 1,
  account: { host: 'wall-probe.invalid', id: 1, login: absent, type: 'Organization' },
  boundBy: { id: 1, login: absent },
  proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
  ceiling: { repositories: 'All', permissions: { contents: 'read' } },
}

const policyOf = (rule: string): string => `ValidatingAdmissionPolicy 'sekisho-${rule}'`
const anyPolicy = "ValidatingAdmissionPolicy 'sekisho-"
const webhook = 'admission webhook "[^"]*[.]sekisho[.]dev"'
const podSecurity = 'violates PodSecurity'

/** About the cluster and the namespace of the platform. */
export const clusterAttempts: readonly Attempt[] = [
  ...inNamespace(platformNamespace, {}),
  {
    wall: 'tenants',
    as: 'nobody',
    what: 'make a Tenant',
    send: create(tenants, undefined, {
      spec: { account: installationSpec.account, namespace: absent, roles: [] },
    }),
  },
  { wall: 'tenants', as: 'nobody', what: 'make a namespace', send: create(namespaces, undefined, {}) },
]

/** In the two namespaces of one tenant. Where Dockerfiles are built, a policy takes the place of Pod Security for builds. */
export function attemptsIn({ spec: { namespace } }: Tenant, buildsDockerfiles: boolean): readonly Attempt[] {
  const [, build] = namespacesOf(namespace)
  const where = { where: namespace }
  const labels = { 'app.kubernetes.io/name': absent }
  return [
    ...inNamespace(namespace, where),
    ...inNamespace(build, { where: build }),
    {
      ...where,
      wall: 'installations',
      as: 'nobody',
      what: 'make an Installation',
      send: create(installation, namespace, { spec: installationSpec }),
    },
    {
      ...where,
      wall: 'tenants',
      as: 'nobody',
      what: 'make a RoleBinding',
      send: create(roleBindings, namespace, bindingContent),
    },
    {
      ...where,
      wall: 'tenants',
      as: 'nobody',
      what: 'make a NetworkPolicy',
      send: create(networkPolicies, namespace, { spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] } }),
    },
    ...[
      { what: `make a Deployment with the Secret ${reserved}`, spec: withReservedSecret },
      { what: `make a Deployment that mounts the Secret ${tokenOfAnother}`, spec: withTokenOfAnother },
    ].map(({ what, spec }) => ({
      ...where,
      wall: 'secret-references' as const,
      as: 'controllers' as const,
      what,
      refusedBy: new RegExp(`${policyOf('secret-references')}|${webhook}`),
      send: create(deployments, namespace, {
        spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      }),
    })),
    {
      // Of the whole cluster, wherever it is tried. RBAC knows no prefixes of names, and no other rule refuses it.
      wall: 'own-writes',
      as: 'controllers',
      what: 'make a Secret in a tenant’s namespace that no right of theirs names',
      refusedBy: new RegExp(policyOf('own-writes')),
      send: create(secrets, namespace, {}),
    },
    {
      wall: 'pod-security',
      where: build,
      as: 'controllers',
      what: 'make a pod with the processes of its node',
      refusedBy: new RegExp(buildsDockerfiles ? `${podSecurity}|${policyOf('build-pods')}` : podSecurity),
      // The API server asks Pod Security before policies and webhooks.
      behind: new RegExp(`${anyPolicy}|${webhook}`),
      send: create(pods, build, { spec: { hostPID: true, automountServiceAccountToken: false, containers: [container] } }),
    },
  ]
}
