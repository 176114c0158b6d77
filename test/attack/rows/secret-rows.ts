// Attacks on reserved Secrets, and with Secrets that make a controller disclose a credential.
import {
  certManager,
  clusterAdministrator,
  controllers,
  dave,
  falseCertManager,
  garbageCollector,
  impostor,
  namespaceController,
  replicaSetController,
} from '../identities.ts'
import { secret } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refusedAsReserved = expecting('reserved-secrets')
const refusedAsKind = expecting('secret-kinds')
const secrets = '/api/v1/namespaces/acme/secrets'
const tokenType = { type: 'kubernetes.io/service-account-token' }
const appSecrets = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/appsecrets'
const appSecret = (name: string, annotations: object = {}) => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppSecret',
  metadata: { name, annotations },
  spec: { sealed: { A: 'eyJhbGciOiJ4In0.a.b.c.d' } },
})
const copyOf = (text: string): object => ({ 'kapp.k14s.io/original': text })
const refusedAsCopy = expecting('app-secret-copies')
const forAccount = { annotations: { 'kubernetes.io/service-account.name': 'default' } }

export const secretRows: readonly Row[] = [
  allowed.post('dave makes a Secret', dave, secrets, secret({ name: 'mine' })),
  ...[dave, clusterAdministrator, impostor, replicaSetController].flatMap(as => [
    refusedAsReserved.post(`${as.user} plants a reserved Secret`, as, secrets, secret({ name: 'ghtok-x' })),
    refusedAsReserved.post(`${as.user} plants one by generateName`, as, secrets, secret({ generateName: 'ghtok-' })),
    refusedAsReserved.remove(`${as.user} deletes a reserved Secret`, as, `${secrets}/ghtok-held`),
  ]),
  ...[dave, clusterAdministrator, impostor].flatMap(as => [
    refusedAsReserved.post(`${as.user} plants a registry credential`, as, secrets, secret({ name: 'sekisho-registry-x' })),
    refusedAsReserved.remove(`${as.user} deletes a registry credential`, as, `${secrets}/sekisho-registry-pull`),
  ]),
  refusedAsReserved.patch('dave changes a registry credential', dave, `${secrets}/sekisho-registry-pull`, {
    data: { token: 'eQ==' },
  }),
  ...[dave, clusterAdministrator, impostor, replicaSetController].flatMap(as => [
    refusedAsReserved.post(`${as.user} plants the values of an AppSecret`, as, secrets, secret({ name: 'appsecret-x' })),
    refusedAsReserved.patch(`${as.user} changes the values of an AppSecret`, as, `${secrets}/appsecret-shop`, {
      data: { token: 'eQ==' },
    }),
    refusedAsReserved.remove(`${as.user} deletes the values of an AppSecret`, as, `${secrets}/appsecret-shop`),
  ]),
  refusedAsReserved.post('dave plants them by generateName', dave, secrets, secret({ generateName: 'appsecret-' })),
  refusedAsReserved.apply(
    'dave takes the owner from them',
    dave,
    `${secrets}/appsecret-shop?fieldManager=x&force=true`,
    secret({ name: 'appsecret-shop', ownerReferences: [] }),
  ),
  allowed.apply(
    'the platform writes the values of an AppSecret',
    controllers,
    `${secrets}/appsecret-x?fieldManager=x`,
    secret({ name: 'appsecret-x' }),
  ),
  refusedAsCopy.post(
    'dave keeps a copy of the values beside them',
    dave,
    appSecrets,
    appSecret('a', copyOf('{"spec":{"values":{"A":"x"}}}')),
  ),
  refusedAsCopy.post(
    'dave keeps one with spaces in it',
    dave,
    appSecrets,
    appSecret('a', copyOf('{"spec": {"values" : {"A": "x"}}}')),
  ),
  refusedAsCopy.apply(
    'the administrator applies such a copy',
    clusterAdministrator,
    `${appSecrets}/a?fieldManager=x`,
    appSecret('a', copyOf('"values":{')),
  ),
  allowed.post('dave makes an AppSecret', dave, appSecrets, appSecret('a', { note: 'the "values" are in 1Password' })),
  allowed.post('the platform makes a registry credential', controllers, secrets, secret({ name: 'sekisho-registry-x' })),
  allowed.patch('the platform renews a registry credential', controllers, `${secrets}/sekisho-registry-pull`, {
    data: { token: 'eQ==' },
  }),
  refusedAsReserved.patch('dave changes a reserved Secret', dave, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }),
  refusedAsReserved.patch('dave labels a reserved Secret', dave, `${secrets}/ghtok-held`, { metadata: { labels: { a: 'b' } } }),
  refusedAsReserved.apply('dave applies one', dave, `${secrets}/ghtok-new?fieldManager=x`, secret({ name: 'ghtok-new' })),
  refusedAsReserved.remove('dave deletes all Secrets', dave, secrets),
  allowed.post('the platform makes a reserved Secret', controllers, secrets, secret({ name: 'ghtok-x' })),
  allowed.patch('the platform renews one', controllers, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }),
  allowed.remove('the namespace controller removes one', namespaceController, `${secrets}/ghtok-held`),
  allowed.patch('the garbage collector removes its owner', garbageCollector, `${secrets}/ghtok-held`, {
    metadata: { ownerReferences: [] },
  }),
  refusedAsReserved.patch('the garbage collector changes one', garbageCollector, `${secrets}/ghtok-held`, {
    data: { token: 'eQ==' },
  }),
  allowed.post(
    'a namespace that does not belong to a tenant may use the reserved names',
    dave,
    '/api/v1/namespaces/other/secrets',
    secret({ name: 'ghtok-x' }),
  ),
  refusedAsKind.post('dave requests a token from Kubernetes', dave, secrets, secret({ name: 't', ...forAccount }, tokenType)),
  refusedAsKind.post('dave annotates an opaque Secret', dave, secrets, secret({ name: 't', ...forAccount })),
  refusedAsKind.post(
    'dave steers a build',
    dave,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/git': 'https://github.com' } }),
  ),
  refusedAsKind.patch('dave annotates later', dave, `${secrets}/plain`, {
    metadata: { annotations: { 'tekton.dev/git-0': 'x' } },
  }),
  ...[
    'argocd.argoproj.io/secret-type',
    'cert-manager.io/certificate-name',
    'controller.cert-manager.io/fao',
    'reconcile.external-secrets.io/managed',
    'cluster.x-k8s.io/cluster-name',
    'sealedsecrets.bitnami.com/sealed-secrets-key',
  ].map(key =>
    refusedAsKind.post(`dave labels a Secret with ${key}`, dave, secrets, secret({ name: 't', labels: { [key]: 'x' } })),
  ),
  ...[
    'replicator.v1.mittwald.de/replicate-from',
    'reflector.v1.k8s.emberstack.com/reflects',
    'cert-manager.io/allow-direct-injection',
    'sealedsecrets.bitnami.com/managed',
  ].map(key =>
    refusedAsKind.post(`dave annotates a Secret with ${key}`, dave, secrets, secret({ name: 't', annotations: { [key]: 'x' } })),
  ),
  refusedAsKind.patch('dave labels a Secret for Argo CD later', dave, `${secrets}/plain`, {
    metadata: { labels: { 'argocd.argoproj.io/secret-type': 'repository' } },
  }),
  allowed.post(
    'cert-manager fills a Secret with a certificate',
    certManager,
    secrets,
    secret({
      name: 't',
      labels: { 'controller.cert-manager.io/fao': 'true' },
      annotations: { 'cert-manager.io/issuer-name': 'x' },
    }),
  ),
  refusedAsKind.post(
    'cert-manager marks a Secret for another operator',
    certManager,
    secrets,
    secret({ name: 't', annotations: { 'replicator.v1.mittwald.de/replicate-to': 'globex' } }),
  ),
  refusedAsKind.post(
    'a ServiceAccount that is called cert-manager marks a Secret',
    falseCertManager,
    secrets,
    secret({ name: 't', annotations: { 'cert-manager.io/issuer-name': 'x' } }),
  ),
  allowed.post('dave labels a Secret', dave, secrets, secret({ name: 't', labels: { 'app.kubernetes.io/name': 'shop' } })),
  allowed.patch('dave changes data', dave, `${secrets}/plain`, { data: { token: 'eQ==' } }),
  allowed.patch('dave changes data of an old annotated Secret', dave, `${secrets}/annotated`, { data: { token: 'eQ==' } }),
  allowed.post(
    'the platform annotates a Secret',
    controllers,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/docker': 'x' } }),
  ),
]
