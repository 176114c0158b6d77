// Attacks with the Secret of a token of somebody else: `ghtok-<ServiceAccount>.<grant>` is for pods under that ServiceAccount, as
// files and to pull images, and for nothing else.
import { controllers, dave, replicaSetController } from '../identities.ts'
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

export const tokenSecretFixtures: readonly Existing[] = [
  { path, object: deployment('with-token', under(shape('secret volume', own))) },
]

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

export const laterTokenSecretRows: readonly Row[] = [
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
