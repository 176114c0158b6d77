// Attacks by what RBAC alone would guard: tokens of ServiceAccounts, roles that are handed on, containers in builds, objects of
// kpack.
import {
  buildController,
  certManager,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  type Identity,
  impostor,
  namespaceController,
  platformAdministrator,
} from '../identities.ts'
import { type Body, type Existing, restricted } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const core = (namespace: string, path: string): string => `/api/v1/namespaces/${namespace}/${path}`
const administrators = [platformAdministrator, clusterAdministrator]
/** By its name alone: the plugin NodeRestriction asks for more. */
const kubelet: Identity = { user: 'system:node:n1', groups: dave.groups }

const tokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } }
const tokenOf = (namespace: string, name: string): string => core(namespace, `serviceaccounts/${name}/token`)
/** Of the platform's in the namespaces of a tenant. */
const platformAccounts = [
  ['acme', 'default'],
  ['acme', 'sekisho-isolated'],
  ['acme-build', 'builder'],
  ['acme-build', 'default'],
] as const
const [ofTenant, ofPlatform] = [expecting('account-tokens'), expecting('platform-account-tokens')]

const tokenRows: readonly Row[] = [
  ...platformAccounts.flatMap(([namespace, name]) => [
    ...[dave, impostor, buildController].map(as =>
      ofTenant.post(`${as.user} asks for a token of ${namespace}/${name}`, as, tokenOf(namespace, name), tokenRequest),
    ),
    ...[kubelet, ...administrators].map(as =>
      allowed.post(`${as.user} asks for a token of ${namespace}/${name}`, as, tokenOf(namespace, name), tokenRequest),
    ),
  ]),
  allowed.post('a token of an account of one’s own', dave, tokenOf('acme', 'worker'), tokenRequest),
  allowed.post('a token elsewhere', dave, tokenOf('other', 'default'), tokenRequest),
  ...[dave, impostor].flatMap(as =>
    ['default', 'sekisho-controllers', 'sekisho-wall-probe'].map(name =>
      ofPlatform.post(`${as.user} asks for a token of the platform’s ${name}`, as, tokenOf('sekisho-system', name), tokenRequest),
    ),
  ),
  ofPlatform.post(
    'the controllers ask for a token of their own account',
    controllers,
    tokenOf('sekisho-system', 'sekisho-controllers'),
    tokenRequest,
  ),
  allowed.post(
    'the controllers ask for a token of the account without rights',
    controllers,
    tokenOf('sekisho-system', 'sekisho-wall-probe'),
    tokenRequest,
  ),
  ...[kubelet, ...administrators].map(as =>
    allowed.post(
      `${as.user} asks for a token of the platform’s account`,
      as,
      tokenOf('sekisho-system', 'sekisho-controllers'),
      tokenRequest,
    ),
  ),
]

const rbac = 'rbac.authorization.k8s.io'
const roleObject = (kind: 'Role' | 'RoleBinding', name: string): Body => {
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
  const binding = {
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: dave.user }],
  }
  return { apiVersion: `${rbac}/v1`, kind, metadata: { name }, ...(kind === 'Role' ? { rules } : binding) }
}
const rolesIn = (namespace: string, kind: string): string => `/apis/${rbac}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`
const labelled = { metadata: { labels: { team: 'x' } } }
const widened = (kind: string): object =>
  kind === 'Role'
    ? { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }
    : { subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:authenticated' }] }

const roles = expecting('role-writers')
const roleRows: readonly Row[] = (['Role', 'RoleBinding'] as const).flatMap(kind => {
  const [collection, held] = [rolesIn('acme', kind), `${rolesIn('acme', kind)}/held`]
  return [
    ...[dave, impostor, certManager].flatMap(as => [
      roles.post(`${as.user} makes a ${kind}`, as, collection, roleObject(kind, 'x')),
      roles.post(`${as.user} makes a ${kind} in a build namespace`, as, rolesIn('acme-build', kind), roleObject(kind, 'x')),
      roles.patch(`${as.user} widens a ${kind}`, as, held, widened(kind)),
      roles.remove(`${as.user} deletes a ${kind}`, as, held),
    ]),
    roles.patch(`the garbage collector widens a ${kind}`, garbageCollector, held, widened(kind)),
    allowed.patch(`the garbage collector changes metadata of a ${kind}`, garbageCollector, held, labelled),
    allowed.remove(`a ${kind} ends with its namespace`, namespaceController, held),
    ...[controllers, ...administrators].flatMap(as => [
      allowed.post(`${as.user} makes a ${kind}`, as, collection, roleObject(kind, 'x')),
      allowed.remove(`${as.user} deletes a ${kind}`, as, held),
    ]),
    allowed.post(`a ${kind} elsewhere`, dave, rolesIn('other', kind), roleObject(kind, 'x')),
  ]
})

const kpackBuilds = (namespace: string): string => `/apis/kpack.io/v1alpha2/namespaces/${namespace}/builds`
const kpackBuild = (name: string): Body => ({
  apiVersion: 'kpack.io/v1alpha2',
  kind: 'Build',
  metadata: { name },
  spec: { serviceAccountName: 'builder', tags: ['registry.test/x'] },
})
const kpack = expecting('kpack-writers')
const kpackRows: readonly Row[] = [
  ...['acme', 'acme-build'].flatMap(namespace =>
    [dave, impostor, buildController].map(as =>
      kpack.post(`${as.user} makes a Build of kpack in ${namespace}`, as, kpackBuilds(namespace), kpackBuild('x')),
    ),
  ),
  ...[dave, impostor, buildController].map(as =>
    kpack.patch(`${as.user} changes a Build`, as, `${kpackBuilds('acme-build')}/held`, { spec: { tags: ['registry.test/y'] } }),
  ),
  ...[dave, buildController].map(as => kpack.remove(`${as.user} deletes a Build`, as, `${kpackBuilds('acme-build')}/held`)),
  allowed.patch('kpack labels a Build', buildController, `${kpackBuilds('acme-build')}/held`, labelled),
  allowed.patch('kpack says how far a Build is', buildController, `${kpackBuilds('acme-build')}/held/status`, {
    status: { conditions: [] },
  }),
  allowed.remove('a Build ends with its namespace', namespaceController, `${kpackBuilds('acme-build')}/held`),
  ...[controllers, ...administrators].flatMap(as => [
    allowed.post(`${as.user} makes a Build of kpack`, as, kpackBuilds('acme-build'), kpackBuild('x')),
    allowed.remove(`${as.user} deletes a Build of kpack`, as, `${kpackBuilds('acme-build')}/held`),
  ]),
  allowed.post('a Build of kpack elsewhere', dave, kpackBuilds('other'), kpackBuild('x')),
]

const debug = {
  spec: {
    ephemeralContainers: restricted({ containers: [{ name: 'debug', image: 'registry.test/x' }] })['containers'],
  },
}
const builds = expecting('build-connections')
const containerRows: readonly Row[] = [
  ...[dave, impostor, buildController].map(as =>
    builds.strategicPatch(`${as.user} debugs a build`, as, core('acme-build', 'pods/builds/ephemeralcontainers'), debug),
  ),
  ...administrators.map(as =>
    allowed.strategicPatch(`${as.user} debugs a build`, as, core('acme-build', 'pods/builds/ephemeralcontainers'), debug),
  ),
]

export const accessRows: readonly Row[] = [...tokenRows, ...roleRows, ...kpackRows, ...containerRows]

/** A CONNECT has no answer that is a success, so that these rows are not in the matrix. */
export const buildConnectionRefusals: readonly (readonly [as: Identity, path: string])[] = [dave, impostor, controllers].flatMap(
  as =>
    [
      'pods/builds/exec?command=id&stdout=true',
      'pods/builds/attach?stdout=true',
      'pods/builds/portforward?ports=80',
      'pods/builds/proxy/',
      'services/x/proxy/',
    ].map(path => [as, core('acme-build', path)] as const),
)
export { tokenOf, tokenRequest }

const account = (namespace: string, name: string): Existing => ({
  path: core(namespace, 'serviceaccounts'),
  object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
})

export const accessFixtures: readonly Existing[] = [
  account('acme', 'worker'),
  account('acme', 'deployer'),
  account('acme', 'sekisho-isolated'),
  account('sekisho-system', 'sekisho-controllers'),
  account('sekisho-system', 'sekisho-wall-probe'),
  ...(['Role', 'RoleBinding'] as const).map(kind => ({ path: rolesIn('acme', kind), object: roleObject(kind, 'held') })),
  { path: kpackBuilds('acme-build'), object: kpackBuild('held') },
]
