// Attacks on kinds that configure the controllers, on what the platform believes of itself (status, finalizers, commits,
// domains), and on its own namespace.
import {
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platformAdministrator,
  rootCertificatePublisher,
} from '../identities.ts'
import { application, type Body, type Existing, followers, repositoryGrant, secret } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const apps = '/apis/github.sekisho.dev/v1alpha1/clustergithubapps'
const charts = '/apis/apps.sekisho.dev/v1alpha1/applicationcharts'
const caps = '/apis/github.sekisho.dev/v1alpha1/clustergrantpolicies'
const policies = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/grantpolicies'
const claims = '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims'
const applications = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications'
const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'

const githubApp = (name: string): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'ClusterGitHubApp',
  metadata: { name },
  spec: { host: 'github.test', appId: 1, clientId: 'x', privateKeys: [{ secretName: 'key' }] },
})
const chart = (name: string): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'ApplicationChart',
  metadata: { name },
  spec: { builtIn: 'web' },
})
const rules = [{ name: 'all', effect: 'Allow', permissions: { '*': 'admin' } }]
const policyOf = (kind: string, name: string): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind,
  metadata: { name },
  spec: { rules },
})
const cap = (name: string): Body => policyOf('ClusterGrantPolicy', name)
const claim = (host: string): Body => ({
  apiVersion: 'tenancy.sekisho.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: { name: host },
  spec: { host, tenant: { name: 'acme', uid: 'u' }, proof: 'DNS' },
})
const commit = 'a'.repeat(40)

const platformKindRows: readonly Row[] = (
  [
    [apps, githubApp, { spec: { clientId: 'y', pool: 'acme' } }],
    [charts, chart, { spec: { timeoutSeconds: 9 } }],
    [caps, cap, { spec: { mode: 'Audit' } }],
  ] as const
).flatMap(([path, object, change]) => {
  const refused = expecting('platform-kinds')
  const { kind } = object('x')
  return [
    ...[dave, impostor].flatMap(as => [
      refused.post(`${as.user} creates a ${String(kind)}`, as, path, object('mine')),
      refused.patch(`${as.user} changes a ${String(kind)}`, as, `${path}/held`, change),
      refused.remove(`${as.user} deletes a ${String(kind)}`, as, `${path}/held`),
    ]),
    refused.patch(`the platform changes a ${String(kind)}`, controllers, `${path}/held`, change),
    allowed.patch(`the platform adds its finalizer to a ${String(kind)}`, controllers, `${path}/held`, {
      metadata: { finalizers: ['sekisho.dev/x'] },
    }),
    ...[platformAdministrator, clusterAdministrator].flatMap(as => [
      allowed.post(`${as.user} creates a ${String(kind)}`, as, path, object('mine')),
      allowed.patch(`${as.user} changes a ${String(kind)}`, as, `${path}/held`, change),
      allowed.remove(`${as.user} deletes a ${String(kind)}`, as, `${path}/held`),
    ]),
  ]
})

const refusedClaim = expecting('domain-claim-writers')
const claimRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refusedClaim.post(`${as.user} claims a domain`, as, claims, claim('mine.test')),
    refusedClaim.patch(`${as.user} labels a claim`, as, `${claims}/held.test`, { metadata: { labels: { a: 'b' } } }),
    refusedClaim.remove(`${as.user} releases a claim`, as, `${claims}/held.test`),
  ]),
  allowed.post('the platform claims a domain', controllers, claims, claim('mine.test')),
  allowed.remove('the platform releases a domain', controllers, `${claims}/held.test`),
  allowed.post('a platform administrator approves a domain', platformAdministrator, claims, claim('mine.test')),
  allowed.remove('a platform administrator takes a domain back', platformAdministrator, `${claims}/held.test`),
  allowed.remove('the garbage collector deletes a claim with its Tenant', garbageCollector, `${claims}/held.test`),
]

const refusedStatus = expecting('status-writers')
/** Conditions as the token desk and others read them. */
const ready = {
  status: {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Approved',
        message: 'x',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 1,
      },
    ],
  },
}
const statusRows: readonly Row[] = [
  ['Application', `${applications}/held`],
  ['RepositoryGrant', `${grants}/held`],
  ['ClusterGitHubApp', `${apps}/held`],
  ['ClusterGrantPolicy', `${caps}/held`],
  ['GrantPolicy', `${policies}/held`],
  ['ApplicationChart', `${charts}/held`],
  ...followers.map(({ kind, path }) => [kind, `${path}/dave`]),
].flatMap(([kind, path]) => [
  ...[dave, platformAdministrator, garbageCollector].map(as =>
    refusedStatus.patch(`${as.user} writes the status of a ${kind}`, as, `${path}/status`, ready),
  ),
  allowed.patch(`the platform writes the status of a ${kind}`, controllers, `${path}/status`, ready),
])

const refusedFinalizer = expecting('kind-finalizers')
const finalizers = (...values: readonly string[]) => ({ metadata: { finalizers: values } })
const leaving = `${grants}/leaving`
const finalizerRows: readonly Row[] = [
  refusedFinalizer.patch('dave removes the platform’s finalizer', dave, leaving, finalizers('example.com/held')),
  refusedFinalizer.patch('dave adds a finalizer', dave, `${applications}/held`, finalizers('example.com/held')),
  refusedFinalizer.patch('dave adds a finalizer of the platform', dave, `${applications}/held`, finalizers('sekisho.dev/x')),
  refusedFinalizer.post(
    'dave creates a grant that cannot be deleted',
    dave,
    grants,
    repositoryGrant('x', dave.user, { finalizers: ['example.com/held'] }),
  ),
  allowed.patch('dave removes a foreign finalizer', dave, leaving, finalizers('sekisho.dev/repository-grant')),
  allowed.patch('the platform removes its finalizer', controllers, leaving, finalizers()),
  allowed.patch('a platform administrator removes it', platformAdministrator, leaving, finalizers()),
  allowed.patch('the garbage collector removes finalizers', garbageCollector, leaving, finalizers()),
]

const refusedCommit = expecting('application-commit')
const built = `${applications}/built`
const commitRows: readonly Row[] = [
  ...[dave, platformAdministrator].flatMap(as => [
    refusedCommit.post(`${as.user} names a commit`, as, applications, application('x', { image: 'i', commit })),
    refusedCommit.patch(`${as.user} changes the commit`, as, built, { spec: { commit: 'b'.repeat(40) } }),
    refusedCommit.patch(`${as.user} changes the image and keeps the commit`, as, built, { spec: { image: 'other' } }),
  ]),
  allowed.patch('dave sets another image without a commit', dave, built, { spec: { image: 'other', commit: null } }),
  allowed.patch('dave changes something else', dave, built, { spec: { env: [{ name: 'A', value: 'b' }] } }),
  allowed.post('dave creates an Application', dave, applications, application('x', { image: 'i' })),
  allowed.patch('the platform sets image and commit', controllers, built, { spec: { image: 'other', commit: 'b'.repeat(40) } }),
]

const refusedConfiguration = expecting('platform-configuration')
const inPlatform = '/api/v1/namespaces/sekisho-system'
const configMap = (name: string): Body => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { 'chart.js': 'x' } })
const configurationRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refusedConfiguration.post(`${as.user} makes a ConfigMap of the platform`, as, `${inPlatform}/configmaps`, configMap('chart')),
    refusedConfiguration.patch(`${as.user} changes one`, as, `${inPlatform}/configmaps/held`, { data: { 'chart.js': 'y' } }),
    refusedConfiguration.post(`${as.user} makes a Secret of the platform`, as, `${inPlatform}/secrets`, secret({ name: 'key' })),
    refusedConfiguration.remove(`${as.user} deletes one`, as, `${inPlatform}/secrets/held`),
  ]),
  ...[controllers, platformAdministrator, clusterAdministrator, rootCertificatePublisher, namespaceController].map(as =>
    allowed.post(`${as.user} makes a ConfigMap of the platform`, as, `${inPlatform}/configmaps`, configMap('chart')),
  ),
  allowed.patch('the platform renews its certificate', controllers, `${inPlatform}/secrets/held`, { data: { token: 'eQ==' } }),
  allowed.post('dave makes a ConfigMap elsewhere', dave, '/api/v1/namespaces/other/configmaps', configMap('chart')),
]

export const kindFixtures: readonly Existing[] = [
  { path: apps, object: githubApp('held') },
  { path: charts, object: chart('held') },
  { path: caps, object: cap('held') },
  { path: policies, object: policyOf('GrantPolicy', 'held') },
  { path: claims, object: claim('held.test') },
  { path: applications, object: application('held') },
  { path: applications, object: application('built', { image: 'i', commit }) },
  { path: grants, object: repositoryGrant('held', dave.user) },
  {
    path: grants,
    object: repositoryGrant('leaving', dave.user, { finalizers: ['sekisho.dev/repository-grant', 'example.com/held'] }),
    leaving: true,
  },
  { path: `${inPlatform}/configmaps`, object: configMap('held') },
  { path: `${inPlatform}/secrets`, object: secret({ name: 'held' }) },
]

export const kindRows: readonly Row[] = [
  ...platformKindRows,
  ...claimRows,
  ...statusRows,
  ...finalizerRows,
  ...commitRows,
  ...configurationRows,
]
