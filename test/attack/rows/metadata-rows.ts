// Attacks by labels, annotations and owners that only the platform's own objects have.
import {
  buildController,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  jobController,
} from '../identities.ts'
import { type Body, type Existing, restricted, type Workload, workloads } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const refused = expecting('reserved-metadata')
const configMaps = '/api/v1/namespaces/acme/configmaps'

const configMap = (metadata: object): Body => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', ...metadata } })

const marks: readonly (readonly [string, object])[] = [
  ['the tenant label', { labels: { 'sekisho.dev/tenant': 'acme' } }],
  ['the application label', { labels: { 'sekisho.dev/application': 'shop' } }],
  ['a label below our domain', { labels: { 'apps.sekisho.dev/any': 'x' } }],
  ['an annotation of ours', { annotations: { 'sekisho.dev/desired-hash': 'x' } }],
  ['a Tenant as its owner', { ownerReferences: [ownerOf('tenancy.sekisho.dev/v1alpha1', 'Tenant')] }],
  ['an Installation as its owner', { ownerReferences: [ownerOf('github.sekisho.dev/v1alpha1', 'Installation', true)] }],
]

const plain = { containers: [{ name: 'main', image: 'registry.test/x' }] }
const label = { 'sekisho.dev/application': 'shop' }

/** A workload whose pods carry the label; selectors must match, so the label is added to those of the template. */
function templated([kind, { path, object }]: readonly [string, Workload]): readonly Row[] {
  if (kind === 'Pod') return []
  const body = JSON.parse(
    JSON.stringify(object('t', plain)).replaceAll('{"app":"x"}', '{"app":"x","sekisho.dev/application":"shop"}'),
  ) as Body
  // Jobs and CronJobs have no labels in their templates by themselves.
  const marked = kind === 'Job' ? jobWith(label) : kind === 'CronJob' ? cronJobWith(label) : body
  return [
    refused.post(`dave makes a ${kind} whose pods look like those of an Application`, dave, path('acme'), marked),
    allowed.post(`the platform makes such a ${kind}`, controllers, path('acme'), marked),
  ]
}

const once = { ...plain, restartPolicy: 'Never' }
const jobWith = (labels: object): Body => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 't' },
  spec: { template: { metadata: { labels }, spec: once } },
})
const cronJobWith = (labels: object): Body => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 't' },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { metadata: { labels }, spec: once } } } },
})
const cronJobWithJobLabel: Body = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 't' },
  spec: { schedule: '* * * * *', jobTemplate: { metadata: { labels: label }, spec: { template: { spec: once } } } },
}

const held = `${configMaps}/held`

export const metadataFixtures: readonly Existing[] = [
  {
    path: configMaps,
    object: configMap({ name: 'held', labels: label }),
    ownedBy: '/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme',
  },
]

export const metadataRows: readonly Row[] = [
  ...marks.flatMap(([what, metadata]) => [
    ...[dave, impostor].map(as => refused.post(`${as.user} makes a ConfigMap with ${what}`, as, configMaps, configMap(metadata))),
    allowed.post(`the platform makes a ConfigMap with ${what}`, controllers, configMaps, configMap(metadata)),
    allowed.post(`a cluster administrator makes a ConfigMap with ${what}`, clusterAdministrator, configMaps, configMap(metadata)),
    allowed.post(`a ConfigMap with ${what} elsewhere`, dave, '/api/v1/namespaces/other/configmaps', configMap(metadata)),
  ]),
  ...[...workloads].flatMap(templated),
  refused.post(
    'dave makes a CronJob whose Jobs look like the platform’s',
    dave,
    '/apis/batch/v1/namespaces/acme/cronjobs',
    cronJobWithJobLabel,
  ),
  refused.apply('dave applies the label', dave, `${configMaps}/new?fieldManager=x`, configMap({ name: 'new', labels: label })),
  refused.patch('dave changes a label of the platform', dave, held, {
    metadata: { labels: { 'sekisho.dev/application': 'other' } },
  }),
  refused.patch('dave removes a label of the platform', dave, held, {
    metadata: { labels: { 'sekisho.dev/application': null } },
  }),
  refused.patch('dave removes an owner of the platform', dave, held, { metadata: { ownerReferences: [] } }),
  allowed.patch('dave changes the data of such an object', dave, held, { data: { a: 'b' } }),
  allowed.patch('dave adds a label of his own', dave, held, { metadata: { labels: { team: 'x' } } }),
  allowed.patch('the garbage collector removes an owner of the platform', garbageCollector, held, {
    metadata: { ownerReferences: [] },
  }),
  allowed.post('dave makes a ConfigMap', dave, configMaps, configMap({ labels: { 'example.com/sekisho.dev': 'x' } })),
  allowed.post('Kubernetes makes a pod from a template of the platform', jobController, '/api/v1/namespaces/acme/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: label },
    spec: plain,
  }),
  allowed.post('a builder makes a pod in a build namespace', buildController, '/api/v1/namespaces/acme-build/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: label },
    spec: restricted(plain),
  }),
]
