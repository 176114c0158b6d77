// Attacks on the kinds of services and on the Secrets with their credentials.
import {
  admission,
  broker,
  clusterAdministrator,
  controllers,
  dataServices,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { type Body, type Existing, secret } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const services = '/apis/services.sekisho.dev/v1alpha1'
const classes = `${services}/serviceclasses`
const instances = `${services}/namespaces/acme/serviceinstances`
const buckets = `${services}/namespaces/acme/buckets`
const bindings = `${services}/namespaces/acme/servicebindings`
const secrets = '/api/v1/namespaces/acme/secrets'
const apiVersion = 'services.sekisho.dev/v1alpha1'

const serviceClass = (name: string): Body => ({
  apiVersion,
  kind: 'ServiceClass',
  metadata: { name },
  spec: {
    type: 'postgresql',
    provider: { postgresql: { host: 'postgresql.test', adminSecret: { name: 'server' } } },
    plans: [{ name: 'small', limits: { storage: '1Gi' } }],
    reach: { cidrs: ['10.0.7.12/32'] },
  },
})
const instance = (name: string, metadata: object = {}): Body => ({
  apiVersion,
  kind: 'ServiceInstance',
  metadata: { name, ...metadata },
  spec: { class: 'held' },
})
const bucket = (name: string, metadata: object = {}): Body => ({
  apiVersion,
  kind: 'Bucket',
  metadata: { name, ...metadata },
  spec: { class: 'held' },
})
const binding = (name: string, metadata: object = {}): Body => ({
  apiVersion,
  kind: 'ServiceBinding',
  metadata: { name, ...metadata },
  spec: { service: { kind: 'ServiceInstance', name: 'held' } },
})
const change = { spec: { provider: { postgresql: { host: 'elsewhere.test' } } } }
const finalizers = (...values: readonly string[]) => ({ metadata: { finalizers: values } })
const ready = {
  status: {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Delivered',
        message: 'x',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 1,
      },
    ],
  },
}

const refusedClass = expecting('service-class-writers')
const classRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refusedClass.post(`${as.user} offers a service`, as, classes, serviceClass('mine')),
    refusedClass.patch(`${as.user} has the password of a server sent elsewhere`, as, `${classes}/held`, change),
    refusedClass.patch(`${as.user} opens other addresses to pods`, as, `${classes}/held`, {
      spec: { reach: { cidrs: ['10.0.0.0/8'] } },
    }),
    refusedClass.remove(`${as.user} ends a service`, as, `${classes}/held`),
  ]),
  refusedClass.patch('data-services changes a ServiceClass', dataServices, `${classes}/held`, change),
  allowed.patch(
    'data-services adds its finalizer to a ServiceClass',
    dataServices,
    `${classes}/held`,
    finalizers('sekisho.dev/x'),
  ),
  ...[platformAdministrator, clusterAdministrator].flatMap(as => [
    allowed.post(`${as.user} offers a service`, as, classes, serviceClass('mine')),
    allowed.patch(`${as.user} changes a ServiceClass`, as, `${classes}/held`, change),
    allowed.remove(`${as.user} ends a service`, as, `${classes}/held`),
  ]),
]

const refusedStatus = expecting('status-writers')
const statusRows: readonly Row[] = [
  ['ServiceClass', `${classes}/held`],
  ['ServiceInstance', `${instances}/held`],
  ['Bucket', `${buckets}/held`],
  ['ServiceBinding', `${bindings}/held`],
].flatMap(([kind, path]) => [
  ...[dave, platformAdministrator, garbageCollector].map(as =>
    refusedStatus.patch(`${as.user} writes the status of a ${kind}`, as, `${path}/status`, ready),
  ),
  allowed.patch(`data-services writes the status of a ${kind}`, dataServices, `${path}/status`, ready),
])

const refusedFinalizer = expecting('kind-finalizers')
const refusedMetadata = expecting('reserved-metadata')
const rolledOut = { metadata: { annotations: { 'sekisho.dev/rolled-out-version': '9' } } }
const owned = { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'Application', true)] }
const tenantRows: readonly Row[] = [
  allowed.post('dave makes a ServiceInstance', dave, instances, instance('a')),
  allowed.patch('dave changes its plan', dave, `${instances}/held`, { spec: { plan: 'large' } }),
  allowed.remove('dave deletes a ServiceInstance', dave, `${instances}/held`),
  allowed.post('dave makes a Bucket', dave, buckets, bucket('a')),
  allowed.patch('dave has it emptied when it is deleted', dave, `${buckets}/held`, { spec: { emptyWhenDeleted: true } }),
  allowed.remove('dave deletes a Bucket', dave, `${buckets}/held`),
  allowed.post('dave makes a ServiceBinding', dave, bindings, binding('a')),
  allowed.patch('dave has a credential replaced', dave, `${bindings}/held`, { spec: { rotate: '2026-01-01T00:00:00Z' } }),
  refusedMetadata.post('dave makes one that an Application owns', dave, bindings, binding('a', owned)),
  refusedMetadata.patch('dave says that no pod has the former credential', dave, `${bindings}/held`, rolledOut),
  allowed.patch('the controllers say it', controllers, `${bindings}/held`, rolledOut),
  ...[instances, buckets, bindings].map(path =>
    allowed.patch(
      `the controllers keep one until it is recorded (${path})`,
      controllers,
      `${path}/held`,
      finalizers('sekisho.dev/x'),
    ),
  ),
  ...[instances, buckets, bindings].flatMap(path => [
    refusedFinalizer.patch(`dave keeps one for ever (${path})`, dave, `${path}/held`, finalizers('example.com/held')),
    refusedFinalizer.patch(`dave has no clean-up done (${path})`, dave, `${path}/leaving`, finalizers()),
    allowed.patch(`data-services has cleaned up (${path})`, dataServices, `${path}/leaving`, finalizers()),
  ]),
]

const apps = '/apis/apps.sekisho.dev/v1alpha1'
const ofPreview = `${instances}/of-preview`
const refusedOwned = expecting('owned-writers')
const kept = { spec: { whenDeleted: 'Keep' } }
const bucketOfPreview = `${buckets}/of-preview`
const cors = [{ origins: ['*'], methods: ['GET'] }]
const previewRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refusedOwned.patch(`${as.user} keeps the data of a preview`, as, ofPreview, kept),
    refusedOwned.patch(`${as.user} gives the service of a preview another plan`, as, ofPreview, { spec: { plan: 'large' } }),
    refusedOwned.patch(`${as.user} keeps the objects of a preview`, as, bucketOfPreview, { spec: { emptyWhenDeleted: false } }),
    refusedOwned.patch(`${as.user} opens the bucket of a preview to web pages`, as, bucketOfPreview, { spec: { cors } }),
  ]),
  refusedMetadata.patch('dave takes the service of a preview from its AppPipeline', dave, ofPreview, {
    metadata: { ownerReferences: [] },
  }),
  refusedMetadata.post(
    'dave makes a service of a preview',
    dave,
    instances,
    instance('a', { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'AppPipeline', true)] }),
  ),
  refusedMetadata.post(
    'dave makes a bucket of a preview',
    dave,
    buckets,
    bucket('a', { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'AppPipeline', true)] }),
  ),
  refusedMetadata.patch('dave takes the bucket of a preview from its AppPipeline', dave, bucketOfPreview, {
    metadata: { ownerReferences: [] },
  }),
  refusedMetadata.post(
    'dave makes one that looks like that of a preview',
    dave,
    instances,
    instance('a', { labels: { 'sekisho.dev/app-pipeline': 'shop', 'sekisho.dev/pull-request': '1' } }),
  ),
  refusedMetadata.patch('dave hands a service of his own to a preview', dave, `${instances}/held`, {
    metadata: { labels: { 'sekisho.dev/pull-request': '1' } },
  }),
  allowed.patch('the platform changes the service of a preview', controllers, ofPreview, { spec: { plan: 'large' } }),
  allowed.patch('the platform changes the bucket of a preview', controllers, bucketOfPreview, { spec: { cors } }),
  allowed.patch('data-services adds its finalizer to one', dataServices, ofPreview, finalizers('sekisho.dev/x')),
  allowed.patch('a platform administrator repairs one', platformAdministrator, ofPreview, kept),
  allowed.remove('dave deletes one, which is made again', dave, ofPreview),
]

const refusedSecret = expecting('reserved-secrets')
const secretRows: readonly Row[] = [
  ...[dave, clusterAdministrator, impostor, replicaSetController].flatMap(as => [
    refusedSecret.post(`${as.user} plants a credential of a service`, as, secrets, secret({ name: 'binding-x' })),
    refusedSecret.patch(`${as.user} changes a credential`, as, `${secrets}/binding-shop`, { data: { token: 'eQ==' } }),
    refusedSecret.remove(`${as.user} deletes a credential`, as, `${secrets}/binding-shop`),
  ]),
  refusedSecret.post('dave plants one by generateName', dave, secrets, secret({ generateName: 'binding-' })),
  refusedSecret.apply(
    'dave takes the owner from a credential',
    dave,
    `${secrets}/binding-shop?fieldManager=x&force=true`,
    secret({ name: 'binding-shop', ownerReferences: [] }),
  ),
  allowed.apply(
    'data-services delivers a credential',
    dataServices,
    `${secrets}/binding-x?fieldManager=x`,
    secret({ name: 'binding-x', annotations: { 'sekisho.dev/binding-version': '1' } }),
  ),
  allowed.remove('data-services ends one', dataServices, `${secrets}/binding-shop`),
  allowed.remove('the namespace controller removes one', namespaceController, `${secrets}/binding-shop`),
  refusedSecret.patch('the garbage collector changes one', garbageCollector, `${secrets}/binding-shop`, {
    data: { token: 'eQ==' },
  }),
]

/** The four objects, a database and a bucket of a preview, and those of tenants while they are deleted. */
export const serviceKindFixtures: readonly Existing[] = [
  { path: classes, object: serviceClass('held') },
  { path: instances, object: instance('held') },
  { path: buckets, object: bucket('held') },
  { path: bindings, object: binding('held') },
  {
    path: instances,
    object: { ...instance('of-preview'), spec: { class: 'held', whenDeleted: 'Delete' } },
    controlledBy: `${apps}/namespaces/acme/apppipelines/dave`,
  },
  {
    path: buckets,
    object: { ...bucket('of-preview'), spec: { class: 'held', whenDeleted: 'Delete', emptyWhenDeleted: true } },
    controlledBy: `${apps}/namespaces/acme/apppipelines/dave`,
  },
  { path: instances, object: instance('leaving', { finalizers: ['sekisho.dev/x'] }), leaving: true },
  { path: buckets, object: bucket('leaving', { finalizers: ['sekisho.dev/x'] }), leaving: true },
  { path: bindings, object: binding('leaving', { finalizers: ['sekisho.dev/x'] }), leaving: true },
]

export const serviceKindRows: readonly Row[] = [...classRows, ...statusRows, ...tenantRows, ...previewRows, ...secretRows]

/** Of the production form: what the controllers leave to data-services, and the other way round. */
export const serviceKindProcessRows: readonly Row[] = [
  refusedClass.patch(
    'the controllers add a finalizer to a ServiceClass',
    controllers,
    `${classes}/held`,
    finalizers('sekisho.dev/x'),
  ),
  ...[`${classes}/held`, `${instances}/held`, `${buckets}/held`, `${bindings}/held`].map(path =>
    refusedStatus.patch(`the controllers write the status of ${path}`, controllers, `${path}/status`, ready),
  ),
  refusedSecret.patch('the controllers change a credential of a service', controllers, `${secrets}/binding-shop`, {
    data: { token: 'eQ==' },
  }),
  refusedSecret.remove('the controllers delete one', controllers, `${secrets}/binding-shop`),
  ...['ghtok-x', 'appsecret-x', 'sekisho-registry-x'].map(name =>
    refusedSecret.post(`data-services makes the Secret ${name}`, dataServices, secrets, secret({ name })),
  ),
  refusedStatus.patch(
    'data-services writes the status of an Application',
    dataServices,
    '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications/held/status',
    ready,
  ),
]

const refusedOwn = expecting('own-writes')
const applied = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/secrets/${name}?fieldManager=attack&force=true`

/** Against the policies about our own identities alone: which process writes which Secrets, and where. */
export const ownServiceRows: readonly Row[] = [
  allowed.apply(
    'data-services keeps a credential of a service',
    dataServices,
    applied('acme', 'binding-x'),
    secret({ name: 'binding-x' }),
  ),
  ...[
    ['acme', 'appsecret-x'],
    ['acme-build', 'binding-x'],
    ['sekisho-system', 'binding-x'],
    ['other', 'binding-x'],
  ].map(([where = '', name = '']) =>
    refusedOwn.apply(`data-services writes Secret ${name} in ${where}`, dataServices, applied(where, name), secret({ name })),
  ),
  ...[broker, controllers, admission].map(as =>
    refusedOwn.apply(
      `${as.user} writes a credential of a service`,
      as,
      applied('acme', 'binding-x'),
      secret({ name: 'binding-x' }),
    ),
  ),
]
