// The one table of (who, request, expected): driven against the real API server with the policies alone, the webhook alone, and both.
// Every request is a dry run, so that rows neither depend on nor disturb each other; what they act on is in fixtures.ts.
import type { Identity } from './attack-cluster.ts'
import {
  clusterAdministrator,
  dave,
  garbageCollector,
  impostor,
  mia,
  namespaceController,
  platform,
  platformAdministrator,
  replicaSetController,
} from './identities.ts'
import {
  installation,
  namespace,
  remoteSync,
  repositoryGrant,
  secret,
  secretShapes,
  tenant,
  tenantLabel,
  workloads,
} from './objects.ts'

export type Row = {
  readonly name: string
  readonly as: Identity
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly type?: string
  /** `allowed`, or the rule that refuses. */
  readonly expected: 'allowed' | string
}

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

const installations = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/installations'
const tenants = '/apis/tenancy.sekisho.dev/v1alpha1/tenants'
const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
const syncs = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/remotesyncs'
const secrets = '/api/v1/namespaces/acme/secrets'

const post = (name: string, as: Identity, path: string, body: unknown, expected: string): Row => ({
  name,
  as,
  method: 'POST',
  path,
  body,
  expected,
})
const patch = (name: string, as: Identity, path: string, body: unknown, expected: string, type = merge): Row => ({
  name,
  as,
  method: 'PATCH',
  path,
  body,
  type,
  expected,
})
const remove = (name: string, as: Identity, path: string, expected: string): Row => ({
  name,
  as,
  method: 'DELETE',
  path,
  expected,
})

const one = `${installations}/github`
const onlyBroker = 'installation-writers'

const installationRows: readonly Row[] = [
  ...[dave, clusterAdministrator, platformAdministrator, impostor, replicaSetController].flatMap(as => [
    post(`${as.user} creates an Installation`, as, installations, installation({ name: 'mine' }), onlyBroker),
    post(`${as.user} creates one by generateName`, as, installations, installation({ generateName: 'mine-' }), onlyBroker),
    remove(`${as.user} deletes one`, as, one, onlyBroker),
  ]),
  patch('dave sends an empty patch', dave, one, {}, onlyBroker),
  patch('dave labels one', dave, one, { metadata: { labels: { a: 'b' } } }, onlyBroker),
  patch('dave takes its finalizer', dave, one, { metadata: { finalizers: [] } }, onlyBroker),
  patch('dave becomes its owner', dave, one, { metadata: { ownerReferences: [ownerOf('v1', 'ConfigMap')] } }, onlyBroker),
  patch('dave writes its status', dave, `${one}/status`, { status: { appId: 1 } }, onlyBroker),
  patch(
    'dave applies with force under the broker’s manager',
    dave,
    `${one}?fieldManager=sekisho.dev/broker&force=true`,
    installation({ name: 'github' }),
    onlyBroker,
    apply,
  ),
  patch('dave applies a new one', dave, `${installations}/new?fieldManager=x`, installation({ name: 'new' }), onlyBroker, apply),
  remove('dave deletes all', dave, installations, onlyBroker),
  post('the platform creates one', platform, installations, installation({ name: 'mine' }), 'allowed'),
  patch('the platform wakes one', platform, one, { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }, 'allowed'),
  patch('the platform reports', platform, `${one}/status`, { status: { appId: 1 } }, 'allowed'),
  remove('the platform deletes one', platform, one, 'allowed'),
  remove('the namespace controller deletes one', namespaceController, one, 'allowed'),
  patch('the garbage collector unhooks one', garbageCollector, one, { metadata: { ownerReferences: [] } }, 'allowed'),
  patch('the garbage collector writes a status', garbageCollector, `${one}/status`, { status: { appId: 1 } }, onlyBroker),
]

const tenantRows: readonly Row[] = [
  ...[dave, clusterAdministrator, impostor].flatMap(as => [
    post(`${as.user} creates a Tenant`, as, tenants, tenant('mine'), 'tenant-writers'),
    remove(`${as.user} deletes a Tenant`, as, `${tenants}/acme`, 'tenant-writers'),
  ]),
  patch('dave gives himself a role', dave, `${tenants}/acme`, { spec: { roles: [] } }, 'tenant-writers'),
  patch('dave writes a Tenant’s status', dave, `${tenants}/acme/status`, { status: { namespace: 'x' } }, 'tenant-writers'),
  post('the platform creates a Tenant', platform, tenants, tenant('mine'), 'allowed'),
  post('a platform administrator creates a Tenant', platformAdministrator, tenants, tenant('mine'), 'allowed'),
  patch('a platform administrator changes roles', platformAdministrator, `${tenants}/acme`, { spec: { roles: [] } }, 'allowed'),
  patch('the garbage collector changes roles', garbageCollector, `${tenants}/acme`, { spec: { roles: [] } }, 'tenant-writers'),
]

const pinned = 'requested-by'
const ofSync = { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'RemoteSync', true)] }

const requestRows: readonly Row[] = [
  post('dave asks in his own name', dave, grants, repositoryGrant('a', dave.user), 'allowed'),
  post('dave asks in mia’s name', dave, grants, repositoryGrant('a', mia.user), pinned),
  post('the administrator asks in dave’s name', clusterAdministrator, grants, repositoryGrant('a', dave.user), pinned),
  post('the platform asks in dave’s name without a RemoteSync', platform, grants, repositoryGrant('a', dave.user), pinned),
  post('the platform asks for dave’s RemoteSync', platform, grants, repositoryGrant('a', dave.user, ofSync), 'allowed'),
  post('dave asks in mia’s name as if for a RemoteSync', dave, grants, repositoryGrant('a', mia.user, ofSync), pinned),
  post(
    'the platform asks for a foreign kind of that name',
    platform,
    grants,
    repositoryGrant('a', dave.user, { ownerReferences: [ownerOf('apps.example.com/v1', 'RemoteSync', true)] }),
    pinned,
  ),
  post(
    'the platform asks for a RemoteSync that does not control the grant',
    platform,
    grants,
    repositoryGrant('a', dave.user, { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'RemoteSync')] }),
    pinned,
  ),
  patch(
    'dave applies a grant in mia’s name',
    dave,
    `${grants}/new?fieldManager=x`,
    repositoryGrant('new', mia.user),
    pinned,
    apply,
  ),
  post('dave makes a RemoteSync', dave, syncs, remoteSync('a', dave.user), 'allowed'),
  post('dave makes one in mia’s name', dave, syncs, remoteSync('a', mia.user), pinned),
  post('the platform makes one in mia’s name', platform, syncs, remoteSync('a', mia.user), pinned),
  patch('mia changes dave’s branch and leaves his name', mia, `${syncs}/dave`, { spec: { source: { branch: 'evil' } } }, pinned),
  patch(
    'mia changes dave’s branch in her own name',
    mia,
    `${syncs}/dave`,
    { spec: { source: { branch: 'next' }, requestedBy: mia.user } },
    'allowed',
  ),
  patch('mia puts dave in charge', mia, `${syncs}/mia`, { spec: { requestedBy: dave.user } }, pinned),
  patch('mia labels dave’s RemoteSync', mia, `${syncs}/dave`, { metadata: { labels: { a: 'b' } } }, 'allowed'),
  patch(
    'the platform wakes dave’s RemoteSync',
    platform,
    `${syncs}/dave`,
    { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } },
    'allowed',
  ),
  patch('the platform changes dave’s branch', platform, `${syncs}/dave`, { spec: { source: { branch: 'x' } } }, pinned),
  patch('dave changes his own branch', dave, `${syncs}/dave`, { spec: { source: { branch: 'next' } } }, 'allowed'),
]

const tokenType = { type: 'kubernetes.io/service-account-token' }
const forAccount = { annotations: { 'kubernetes.io/service-account.name': 'default' } }

const secretRows: readonly Row[] = [
  post('dave makes a Secret', dave, secrets, secret({ name: 'mine' }), 'allowed'),
  ...[dave, clusterAdministrator, impostor, replicaSetController].flatMap(as => [
    post(`${as.user} plants a reserved Secret`, as, secrets, secret({ name: 'ghtok-x' }), 'reserved-secrets'),
    post(`${as.user} plants one by generateName`, as, secrets, secret({ generateName: 'ghtok-' }), 'reserved-secrets'),
    remove(`${as.user} deletes a reserved Secret`, as, `${secrets}/ghtok-held`, 'reserved-secrets'),
  ]),
  patch('dave changes a reserved Secret', dave, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }, 'reserved-secrets'),
  patch('dave labels a reserved Secret', dave, `${secrets}/ghtok-held`, { metadata: { labels: { a: 'b' } } }, 'reserved-secrets'),
  patch(
    'dave applies one',
    dave,
    `${secrets}/ghtok-new?fieldManager=x`,
    secret({ name: 'ghtok-new' }),
    'reserved-secrets',
    apply,
  ),
  remove('dave deletes all Secrets', dave, secrets, 'reserved-secrets'),
  post('the platform makes a reserved Secret', platform, secrets, secret({ name: 'ghtok-x' }), 'allowed'),
  patch('the platform renews one', platform, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }, 'allowed'),
  remove('the namespace controller removes one', namespaceController, `${secrets}/ghtok-held`, 'allowed'),
  patch(
    'the garbage collector unhooks one',
    garbageCollector,
    `${secrets}/ghtok-held`,
    { metadata: { ownerReferences: [] } },
    'allowed',
  ),
  patch(
    'the garbage collector changes one',
    garbageCollector,
    `${secrets}/ghtok-held`,
    { data: { token: 'eQ==' } },
    'reserved-secrets',
  ),
  post(
    'a namespace of nobody has its own names',
    dave,
    '/api/v1/namespaces/other/secrets',
    secret({ name: 'ghtok-x' }),
    'allowed',
  ),
  post('dave asks Kubernetes for a token', dave, secrets, secret({ name: 't', ...forAccount }, tokenType), 'secret-kinds'),
  post('dave annotates an opaque Secret', dave, secrets, secret({ name: 't', ...forAccount }), 'secret-kinds'),
  post(
    'dave steers a build',
    dave,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/git': 'https://github.com' } }),
    'secret-kinds',
  ),
  patch(
    'dave annotates later',
    dave,
    `${secrets}/plain`,
    { metadata: { annotations: { 'tekton.dev/git-0': 'x' } } },
    'secret-kinds',
  ),
  patch('dave changes data', dave, `${secrets}/plain`, { data: { token: 'eQ==' } }, 'allowed'),
  patch('dave changes data of an old annotated Secret', dave, `${secrets}/annotated`, { data: { token: 'eQ==' } }, 'allowed'),
  post(
    'the platform annotates a Secret',
    platform,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/docker': 'x' } }),
    'allowed',
  ),
]

const referenceRows: readonly Row[] = [...workloads].flatMap(([kind, { path, object }]) => [
  ...Object.entries(secretShapes).map(([shape, spec]) =>
    post(`${kind}: ${shape}`, dave, path('acme'), object('refers', spec('ghtok-held')), 'secret-references'),
  ),
  ...Object.entries(secretShapes).map(([shape, spec]) =>
    post(`${kind}: ${shape} of an ordinary Secret`, dave, path('acme'), object('refers', spec('plain')), 'allowed'),
  ),
  post(
    `${kind}: made by a controller`,
    replicaSetController,
    path('acme'),
    object('c', heldByEnvironment()),
    'secret-references',
  ),
  post(`${kind}: made by the platform`, platform, path('acme'), object('c', heldByEnvironment()), 'secret-references'),
  post(`${kind}: elsewhere`, dave, path('other'), object('refers', heldByEnvironment()), 'allowed'),
])

const pods = '/api/v1/namespaces/acme/pods'
const debug = (name: string) => ({
  spec: { ephemeralContainers: [{ name: 'debug', image: 'registry.test/x', envFrom: [{ secretRef: { name } }] }] },
})
const deployments = '/apis/apps/v1/namespaces/acme/deployments'
const accounts = '/api/v1/namespaces/acme/serviceaccounts'
const ingresses = '/apis/networking.k8s.io/v1/namespaces/acme/ingresses'
const ingress = (secretName: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'i' },
  spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, tls: [{ hosts: ['x.test'], secretName }] },
})
const account = (more: object) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, ...more })

const laterRows: readonly Row[] = [
  patch(
    'dave debugs a pod with a reserved Secret',
    dave,
    `${pods}/runner/ephemeralcontainers`,
    debug('ghtok-held'),
    'secret-references',
    strategic,
  ),
  patch('dave debugs a pod', dave, `${pods}/runner/ephemeralcontainers`, debug('plain'), 'allowed', strategic),
  patch('dave scales an old Deployment that refers', dave, `${deployments}/old/scale`, { spec: { replicas: 0 } }, 'allowed'),
  patch('dave labels it', dave, `${deployments}/old`, { metadata: { labels: { a: 'b' } } }, 'allowed'),
  patch('dave changes its replicas', dave, `${deployments}/old`, { spec: { replicas: 0 } }, 'allowed'),
  patch(
    'dave edits its template',
    dave,
    `${deployments}/old`,
    { spec: { template: { spec: { hostname: 'x' } } } },
    'secret-references',
  ),
  remove('dave removes it', dave, `${deployments}/old`, 'allowed'),
  post(
    'a ServiceAccount pulls with a reserved Secret',
    dave,
    accounts,
    account({ imagePullSecrets: [{ name: 'ghtok-held' }] }),
    'secret-references-elsewhere',
  ),
  post(
    'a ServiceAccount lists a reserved Secret',
    dave,
    accounts,
    account({ secrets: [{ name: 'ghtok-held' }] }),
    'secret-references-elsewhere',
  ),
  post('a ServiceAccount', dave, accounts, account({ secrets: [{ name: 'plain' }] }), 'allowed'),
  post('an Ingress serves with a reserved Secret', dave, ingresses, ingress('ghtok-held'), 'secret-references-elsewhere'),
  post('an Ingress', dave, ingresses, ingress('plain'), 'allowed'),
]

const guard = 'namespace-guard'
const acme = '/api/v1/namespaces/acme'
const loosened = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } }
const unmarked = { metadata: { labels: { 'sekisho.dev/tenant': null } } }

const namespaceRows: readonly Row[] = [
  ...[dave, clusterAdministrator, impostor].flatMap(as => [
    post(
      `${as.user} makes a namespace that looks like a tenant’s`,
      as,
      '/api/v1/namespaces',
      namespace('fake', tenantLabel),
      guard,
    ),
    patch(`${as.user} loosens Pod Security`, as, acme, loosened, guard),
    patch(`${as.user} loosens it through status`, as, `${acme}/status`, loosened, guard),
    patch(`${as.user} takes the tenant label`, as, acme, unmarked, guard),
    remove(`${as.user} deletes the namespace`, as, acme, guard),
  ]),
  patch(
    'dave makes his namespace look like a tenant’s',
    dave,
    '/api/v1/namespaces/other',
    { metadata: { labels: tenantLabel } },
    guard,
  ),
  {
    name: 'dave takes the tenant label through finalize',
    as: dave,
    method: 'PUT',
    path: `${acme}/finalize`,
    body: { ...namespace('acme'), spec: { finalizers: ['kubernetes'] } },
    expected: guard,
  },
  patch('dave adds another label', dave, acme, { metadata: { labels: { team: 'x' } } }, 'allowed'),
  post('dave makes a plain namespace', dave, '/api/v1/namespaces', namespace('plain'), 'allowed'),
  remove('dave deletes a plain namespace', dave, '/api/v1/namespaces/other', 'allowed'),
  post('the platform makes a tenant’s namespace', platform, '/api/v1/namespaces', namespace('new', tenantLabel), 'allowed'),
  patch('a platform administrator changes Pod Security', platformAdministrator, acme, loosened, 'allowed'),
  remove('the garbage collector deletes the namespace of a deleted Tenant', garbageCollector, acme, 'allowed'),
  remove('the namespace controller deletes a namespace', namespaceController, acme, 'allowed'),
  patch('the garbage collector loosens Pod Security', garbageCollector, acme, loosened, guard),
]

export const matrix: readonly Row[] = [
  ...installationRows,
  ...tenantRows,
  ...requestRows,
  ...secretRows,
  ...referenceRows,
  ...laterRows,
  ...namespaceRows,
]

function ownerOf(apiVersion: string, kind: string, controller = false): object {
  return { apiVersion, kind, name: 'owner', uid: '00000000-0000-4000-8000-000000000000', controller }
}

function heldByEnvironment(): Readonly<Record<string, unknown>> {
  return secretShapes['environment']?.('ghtok-held') ?? {}
}
