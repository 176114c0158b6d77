// Attempts at what an Application ran and runs: forged Releases, and changes by hand of the objects that were rendered for it.
import {
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  type Identity,
  impostor,
  jobController,
  namespaceController,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { type Body, type Existing, service, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const releases = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/releases'
const application = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications/held'

const release = (number: number): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Release',
  metadata: { name: `held-v${number}` },
  spec: {
    application: { name: 'held', uid: 'u' },
    number,
    image: 'registry.test/x',
    hash: '0'.repeat(32),
    snapshot: { image: 'registry.test/x', processes: [{ name: 'worker' }] },
    by: { kind: 'FieldManager', name: 'kubectl' },
    reason: 'First',
  },
})

const forged = expecting('release-writers')
const releaseRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    forged.post(`${as.user} makes a Release`, as, releases, release(2)),
    forged.apply(`${as.user} applies a Release`, as, `${releases}/held-v2?fieldManager=x`, release(2)),
    forged.patch(`${as.user} labels a Release`, as, `${releases}/held-v1`, { metadata: { labels: { a: 'b' } } }),
    forged.remove(`${as.user} deletes a Release`, as, `${releases}/held-v1`),
  ]),
  allowed.post('the platform makes a Release', controllers, releases, release(2)),
  allowed.remove('the platform deletes a Release', controllers, `${releases}/held-v1`),
  allowed.remove('the garbage collector deletes a Release with its Application', garbageCollector, `${releases}/held-v1`),
  allowed.remove('a platform administrator deletes a Release', platformAdministrator, `${releases}/held-v1`),
]

const reports = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/githubreports'
const report = (name: string): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'GitHubReport',
  metadata: { name },
  spec: { follower: { kind: 'RemoteSync', name: 'held', uid: 'u' }, repositoryId: 4001, pullRequest: 1 },
})
const forgedReport = expecting('report-writers')
const reportRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    forgedReport.post(`${as.user} makes a GitHubReport`, as, reports, report('forged')),
    forgedReport.apply(`${as.user} applies a GitHubReport`, as, `${reports}/forged?fieldManager=x`, report('forged')),
    forgedReport.patch(`${as.user} labels a GitHubReport`, as, `${reports}/held`, { metadata: { labels: { a: 'b' } } }),
    forgedReport.remove(`${as.user} deletes a GitHubReport`, as, `${reports}/held`),
  ]),
  allowed.post('the platform makes a GitHubReport', controllers, reports, report('made')),
  allowed.remove('the platform deletes a GitHubReport', controllers, `${reports}/held`),
  allowed.remove('the garbage collector deletes a GitHubReport with its owner', garbageCollector, `${reports}/held`),
  allowed.remove('a platform administrator deletes a GitHubReport', platformAdministrator, `${reports}/held`),
]

const template = { containers: [{ name: 'main', image: 'registry.test/x' }] }
/** A workload whose pods have the label of Applications: as the chart `web` renders it. */
function rendered(kind: string, name: string): Body {
  const labels = '{"app":"x","sekisho.dev/application":"held"}'
  const body = workloads.get(kind)?.object(name, template)
  return JSON.parse(JSON.stringify(body).replaceAll('{"app":"x"}', labels)) as Body
}

type Rendered = { readonly kind: string; readonly path: string; readonly object: (name: string) => Body; readonly change: object }

const label = { metadata: { labels: { a: 'b' } } }
const configMap = (name: string): Body => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })
const serviceAccount = (name: string): Body => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
const claim = (name: string): Body => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})
const autoscaler = (name: string): Body => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 2 },
})
const budget = (name: string): Body => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: { app: 'x' } } },
})

const cronJobs = '/apis/batch/v1/namespaces/acme/cronjobs'
const deployments = '/apis/apps/v1/namespaces/acme/deployments'
const jobs = '/apis/batch/v1/namespaces/acme/jobs'
const core = '/api/v1/namespaces/acme'

/** What charts render, beside Ingresses, which tenants may not write in any case. */
const kinds: readonly Rendered[] = [
  {
    kind: 'Deployment',
    path: deployments,
    object: name =>
      name === 'own' ? (workloads.get('Deployment')?.object(name, template) ?? configMap(name)) : rendered('Deployment', name),
    change: { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.test/other' }] } } } },
  },
  { kind: 'Service', path: `${core}/services`, object: name => service({ name }), change: { spec: { selector: { app: 'y' } } } },
  { kind: 'ConfigMap', path: `${core}/configmaps`, object: configMap, change: { data: { a: 'c' } } },
  { kind: 'ServiceAccount', path: `${core}/serviceaccounts`, object: serviceAccount, change: label },
  { kind: 'PersistentVolumeClaim', path: `${core}/persistentvolumeclaims`, object: claim, change: label },
  {
    kind: 'CronJob',
    path: cronJobs,
    object: name => workloads.get('CronJob')?.object(name, template) ?? configMap(name),
    change: { spec: { suspend: true } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    path: '/apis/autoscaling/v2/namespaces/acme/horizontalpodautoscalers',
    object: autoscaler,
    change: { spec: { maxReplicas: 9 } },
  },
  {
    kind: 'PodDisruptionBudget',
    path: '/apis/policy/v1/namespaces/acme/poddisruptionbudgets',
    object: budget,
    change: { spec: { maxUnavailable: 2 } },
  },
]

const refused = expecting('rendered-objects')
const restart = { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } }
const scale = { spec: { replicas: 3 } }
const horizontalPodAutoscalerController: Identity = {
  user: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
  groups: dave.groups,
}

const kindRows: readonly Row[] = kinds.flatMap(({ kind, path, change }) => [
  ...[dave, impostor].flatMap(as => [
    refused.patch(`${as.user} changes a rendered ${kind}`, as, `${path}/rendered`, change),
    refused.remove(`${as.user} deletes a rendered ${kind}`, as, `${path}/rendered`),
  ]),
  allowed.patch(`dave changes a ${kind} of his own`, dave, `${path}/own`, change),
  allowed.remove(`dave deletes a ${kind} of his own`, dave, `${path}/own`),
  allowed.patch(`the platform changes a rendered ${kind}`, controllers, `${path}/rendered`, change),
  allowed.remove(`the platform deletes a rendered ${kind}`, controllers, `${path}/rendered`),
  allowed.remove(`the garbage collector deletes a rendered ${kind}`, garbageCollector, `${path}/rendered`),
  allowed.remove(`the namespace controller deletes a rendered ${kind}`, namespaceController, `${path}/rendered`),
  allowed.patch(`a platform administrator repairs a rendered ${kind}`, platformAdministrator, `${path}/rendered`, change),
])

const scaleRows: readonly Row[] = [
  ...[dave, impostor].map(as =>
    refused.patch(`${as.user} scales a rendered Deployment`, as, `${deployments}/rendered/scale`, scale),
  ),
  refused.patch('dave restarts a rendered Deployment', dave, `${deployments}/rendered`, restart),
  refused.strategicPatch('dave pauses a rendered Deployment', dave, `${deployments}/rendered`, { spec: { paused: true } }),
  expecting('rendered-objects', 'reserved-metadata').patch(
    'dave takes the owner from a rendered Deployment',
    dave,
    `${deployments}/rendered`,
    { metadata: { ownerReferences: [] } },
  ),
  allowed.patch('dave scales a Deployment of his own', dave, `${deployments}/own/scale`, scale),
  allowed.patch(
    'the autoscaler scales a rendered Deployment',
    horizontalPodAutoscalerController,
    `${deployments}/rendered/scale`,
    scale,
  ),
  allowed.patch('a cluster administrator scales one', clusterAdministrator, `${deployments}/rendered/scale`, scale),
  allowed.patch('the ReplicaSet controller labels one', replicaSetController, `${deployments}/rendered`, label),
  allowed.patch('dave scales his Application', dave, `${application}/scale`, scale),
]

const jobRows: readonly Row[] = [
  refused.patch('dave changes a release job', dave, `${jobs}/rendered`, { spec: { suspend: true } }),
  allowed.remove('dave ends a release job', dave, `${jobs}/rendered?propagationPolicy=Background`),
  allowed.patch('the Job controller labels a release job', jobController, `${jobs}/rendered`, label),
]

const apps = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme'
const preview = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name: 'preview' },
  spec: { processes: [{ name: 'worker' }] },
}
const previewSync = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'RemoteSync',
  metadata: { name: 'preview' },
  spec: {
    installation: 'github',
    repository: 'acme/shop',
    source: { pullRequest: 1 },
    build: {},
    application: 'preview',
    requestedBy: dave.user,
  },
}
const previewFixtures: readonly Existing[] = [
  { path: `${apps}/applications`, object: preview, controlledBy: `${apps}/apppipelines/dave` },
  { path: `${apps}/remotesyncs`, object: previewSync, controlledBy: `${apps}/apppipelines/dave` },
]

const ofPreview = expecting('owned-writers')
const secretOfTenant = { spec: { envFrom: [{ secret: 'shop' }] } }
const otherSource = { spec: { source: { pullRequest: 2 } } }
const previewRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    ofPreview.patch(`${as.user} gives a preview a secret`, as, `${apps}/applications/preview`, secretOfTenant),
    expecting('owned-writers', 'requested-by').patch(
      `${as.user} builds another pull request for a preview`,
      as,
      `${apps}/remotesyncs/preview`,
      otherSource,
    ),
  ]),
  expecting('reserved-metadata').patch('dave takes a preview from its AppPipeline', dave, `${apps}/applications/preview`, {
    metadata: { ownerReferences: [] },
  }),
  allowed.patch('the platform changes a preview', controllers, `${apps}/applications/preview`, secretOfTenant),
  allowed.patch('the platform changes the RemoteSync of a preview', controllers, `${apps}/remotesyncs/preview`, otherSource),
  allowed.patch(
    'a platform administrator repairs a preview',
    platformAdministrator,
    `${apps}/applications/preview`,
    secretOfTenant,
  ),
  allowed.patch('dave labels a preview', dave, `${apps}/applications/preview`, label),
  allowed.remove('dave deletes a preview', dave, `${apps}/applications/preview`),
  allowed.patch('dave gives an Application of his own a secret', dave, `${apps}/applications/held`, secretOfTenant),
]

export const applicationFixtures: readonly Existing[] = [
  ...previewFixtures,
  { path: releases, object: release(1) },
  { path: reports, object: report('held') },
  ...[
    ...kinds,
    { path: jobs, object: (name: string) => workloads.get('Job')?.object(name, template) ?? configMap(name) },
  ].flatMap(({ path, object }) => [
    { path, object: object('rendered'), controlledBy: application },
    { path, object: object('own') },
  ]),
]

export const applicationRows: readonly Row[] = [
  ...releaseRows,
  ...reportRows,
  ...kindRows,
  ...scaleRows,
  ...jobRows,
  ...previewRows,
]
