// Attacks by referring to a reserved Secret: every kind with a pod template, every field, and kinds that are not pods.
import { buildController, controllers, dave, replicaSetController } from '../identities.ts'
import { restricted, secretShapes, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refusedAsReference = expecting('secret-references')
const refusedElsewhere = expecting('secret-references-elsewhere')
const refusedAsRegistry = expecting('registry-references')
const refusedRegistryElsewhere = expecting('registry-references-elsewhere')

function pulling(name: string): Readonly<Record<string, unknown>> {
  return secretShapes['pull secret']?.(name) ?? {}
}
function mountsCredential(): Readonly<Record<string, unknown>> {
  return secretShapes['secret volume']?.('sekisho-registry-build') ?? {}
}
function heldByEnvironment(): Readonly<Record<string, unknown>> {
  return secretShapes['environment']?.('ghtok-held') ?? {}
}

export const referenceRows: readonly Row[] = [...workloads].flatMap(([kind, { path, object }]) => [
  ...Object.entries(secretShapes).map(([shape, spec]) =>
    (shape === 'csi' ? expecting('secret-references', 'pod-placement') : refusedAsReference).post(
      `${kind}: ${shape}`,
      dave,
      path('acme'),
      object('refers', spec('ghtok-held')),
    ),
  ),
  ...Object.entries(secretShapes).map(([shape, spec]) =>
    (shape === 'csi' ? expecting('pod-placement') : allowed).post(
      `${kind}: ${shape} of an ordinary Secret`,
      dave,
      path('acme'),
      object('refers', spec('plain')),
    ),
  ),
  refusedAsReference.post(`${kind}: made by a controller`, replicaSetController, path('acme'), object('c', heldByEnvironment())),
  refusedAsReference.post(`${kind}: made by the platform`, controllers, path('acme'), object('c', heldByEnvironment())),
  ...Object.entries(secretShapes).map(([shape, spec]) =>
    (shape === 'pull secret'
      ? allowed
      : shape === 'csi'
        ? expecting('registry-references', 'pod-placement')
        : refusedAsRegistry
    ).post(`${kind}: ${shape} of the registry credential`, dave, path('acme'), object('refers', spec('sekisho-registry-pull'))),
  ),
  refusedAsRegistry.post(
    `${kind}: another registry credential to pull`,
    dave,
    path('acme'),
    object('p', pulling('sekisho-registry-build')),
  ),
  allowed.post(
    `${kind}: a build with a registry credential`,
    buildController,
    path('acme-build'),
    object('b', restricted(mountsCredential())),
  ),
  allowed.post(`${kind}: elsewhere`, dave, path('other'), object('refers', heldByEnvironment())),
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
  spec: {
    rules: [
      {
        host: 'x.test',
        http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] },
      },
    ],
    tls: [{ hosts: ['x.test'], secretName }],
  },
})
const account = (more: object) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, ...more })

export const laterRows: readonly Row[] = [
  refusedAsReference.strategicPatch(
    'dave debugs a pod with a reserved Secret',
    dave,
    `${pods}/runner/ephemeralcontainers`,
    debug('ghtok-held'),
  ),
  allowed.strategicPatch('dave debugs a pod', dave, `${pods}/runner/ephemeralcontainers`, debug('plain')),
  allowed.patch('dave scales an old Deployment that refers', dave, `${deployments}/old/scale`, { spec: { replicas: 0 } }),
  allowed.patch('dave labels it', dave, `${deployments}/old`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('dave changes its replicas', dave, `${deployments}/old`, { spec: { replicas: 0 } }),
  refusedAsReference.patch('dave edits its template', dave, `${deployments}/old`, {
    spec: { template: { spec: { hostname: 'x' } } },
  }),
  allowed.remove('dave removes it', dave, `${deployments}/old`),
  refusedElsewhere.post(
    'a ServiceAccount pulls with a reserved Secret',
    dave,
    accounts,
    account({ imagePullSecrets: [{ name: 'ghtok-held' }] }),
  ),
  refusedElsewhere.post(
    'a ServiceAccount lists a reserved Secret',
    dave,
    accounts,
    account({ secrets: [{ name: 'ghtok-held' }] }),
  ),
  allowed.post('a ServiceAccount', dave, accounts, account({ secrets: [{ name: 'plain' }] })),
  allowed.post(
    'a ServiceAccount pulls with the registry credential',
    dave,
    accounts,
    account({ imagePullSecrets: [{ name: 'sekisho-registry-pull' }] }),
  ),
  refusedRegistryElsewhere.post(
    'a ServiceAccount pulls with another registry credential',
    dave,
    accounts,
    account({ imagePullSecrets: [{ name: 'sekisho-registry-build' }] }),
  ),
  refusedRegistryElsewhere.post(
    'a ServiceAccount lists the registry credential',
    dave,
    accounts,
    account({ secrets: [{ name: 'sekisho-registry-pull' }] }),
  ),
  refusedElsewhere.post('an Ingress serves with a reserved Secret', controllers, ingresses, ingress('ghtok-held')),
  refusedRegistryElsewhere.post(
    'an Ingress serves with a registry credential',
    controllers,
    ingresses,
    ingress('sekisho-registry-pull'),
  ),
  allowed.post('an Ingress', controllers, ingresses, ingress('plain')),
]
