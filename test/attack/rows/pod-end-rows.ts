// Attacks by what does not end when it is deleted, or keeps a node from being drained: grace periods of years, finalizers,
// tolerations of a drained node, disruption budgets that allow no disruption.
import {
  clusterAdministrator,
  daemonSetController,
  dave,
  jobController,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { type Body, type Existing, type PodSpec, workloads } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const refused = expecting('pod-end')
const container = { name: 'main', image: 'registry.test/x' }
const plain: PodSpec = { containers: [container] }
const ages = 2 ** 31
const probe = (seconds: number) => ({ tcpSocket: { port: 80 }, terminationGracePeriodSeconds: seconds })
const tolerated = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }

const endless: readonly (readonly [string, PodSpec])[] = [
  ['that ends in 68 years', { ...plain, terminationGracePeriodSeconds: ages }],
  ['that ends in an hour and a second', { ...plain, terminationGracePeriodSeconds: 3601 }],
  ['whose liveness probe lets it end in 68 years', { containers: [{ ...container, livenessProbe: probe(ages) }] }],
  ['whose startup probe lets it end in 68 years', { containers: [{ ...container, startupProbe: probe(ages) }] }],
  [
    'whose sidecar’s probe lets it end in 68 years',
    { ...plain, initContainers: [{ ...container, name: 'side', restartPolicy: 'Always', livenessProbe: probe(ages) }] },
  ],
  ['that may run for 68 years', { ...plain, activeDeadlineSeconds: ages - 1 }],
  ['that goes to a node that is drained', { ...plain, tolerations: [tolerated] }],
]
const ending: PodSpec = { containers: [{ ...container, livenessProbe: probe(3600) }], terminationGracePeriodSeconds: 3600 }
/** Only Jobs may have it in their templates. */
const hasDeadline = (kind: string): boolean => ['Pod', 'Job', 'CronJob'].includes(kind)

type Template = { readonly metadata?: object; readonly spec: PodSpec }

/** The object with finalizers where its pods get theirs from. */
function held(kind: string, object: Body, finalizers: readonly string[]): Body {
  const hold = (template: Template): object => ({ ...template, metadata: { ...template.metadata, finalizers } })
  const spec = object['spec'] as {
    readonly template: Template
    readonly jobTemplate: { readonly spec: { readonly template: Template } }
  }
  if (kind === 'Pod') return { ...object, metadata: { ...object.metadata, finalizers } }
  if (kind === 'PodTemplate') return { ...object, template: hold(object['template'] as Template) }
  if (kind === 'CronJob')
    return {
      ...object,
      spec: { ...spec, jobTemplate: { spec: { ...spec.jobTemplate.spec, template: hold(spec.jobTemplate.spec.template) } } },
    }
  return { ...object, spec: { ...spec, template: hold(spec.template) } }
}

const jobTracking = 'batch.kubernetes.io/job-tracking'

/** A pod with the finalizer of the controller of Jobs, and this owner. */
function ownedBy(apiVersion: string, kind: string): Body {
  const pod = held('Pod', made('Pod', 'p', plain), [jobTracking])
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [ownerOf(apiVersion, kind, true)] } }
}

const deployments = '/apis/apps/v1/namespaces/acme/deployments'
const pods = '/api/v1/namespaces/acme/pods'
const jobs = '/apis/batch/v1/namespaces/acme/jobs'
const cronJobs = '/apis/batch/v1/namespaces/acme/cronjobs'

const made = (kind: string, name: string, spec: PodSpec): Body => {
  const workload = workloads.get(kind)
  if (workload === undefined) throw new Error(`${kind} is no workload`)
  return workload.object(name, spec)
}
const job = (name: string, more: object): Body => {
  const object = made('Job', name, plain)
  return { ...object, spec: { ...(object['spec'] as object), ...more } }
}
const cronJob = (name: string, more: object): Body => {
  const object = made('CronJob', name, plain)
  const { jobTemplate, ...spec } = object['spec'] as { readonly jobTemplate: { readonly spec: object } }
  return { ...object, spec: { ...spec, jobTemplate: { spec: { ...jobTemplate.spec, ...more } } } }
}
const year = 31_536_000
const deadlines = ['activeDeadlineSeconds', 'ttlSecondsAfterFinished'] as const

export const podEndFixtures: readonly Existing[] = [
  { path: pods, object: held('Pod', made('Pod', 'leaving', plain), ['example.com/held']), leaving: true },
  { path: deployments, object: made('Deployment', 'endless', { ...plain, terminationGracePeriodSeconds: ages }) },
  { path: deployments, object: held('Deployment', made('Deployment', 'held', plain), ['example.com/held']) },
  { path: pods, object: made('Pod', 'endless', { ...plain, terminationGracePeriodSeconds: ages, tolerations: [tolerated] }) },
  { path: jobs, object: job('endless', { suspend: true, ttlSecondsAfterFinished: ages - 1 }) },
]

const templateRows = [...workloads].flatMap(([kind, { path, object }]) => [
  ...endless
    .filter(([, spec]) => spec['activeDeadlineSeconds'] === undefined || hasDeadline(kind))
    .map(([shape, spec]) => refused.post(`${kind} ${shape}`, dave, path('acme'), object('p', spec))),
  ...['example.com/held', jobTracking].map(finalizer =>
    refused.post(`${kind} with the finalizer ${finalizer}`, dave, path('acme'), held(kind, object('p', plain), [finalizer])),
  ),
  expecting('pod-end', 'build-pods').post(
    `${kind} in a build namespace that ends in 68 years`,
    clusterAdministrator,
    path('acme-build'),
    object('p', { ...plain, terminationGracePeriodSeconds: ages }),
  ),
  allowed.post(`${kind} that ends within an hour`, dave, path('acme'), object('p', ending)),
  allowed.post(
    `${kind} elsewhere that ends in 68 years`,
    dave,
    path('other'),
    object('p', { ...plain, terminationGracePeriodSeconds: ages }),
  ),
])

const jobRows = deadlines.flatMap(field => [
  refused.post(`a Job with ${field} of 68 years`, dave, jobs, job('j', { [field]: ages - 1 })),
  refused.post(`a CronJob with ${field} of 68 years`, dave, cronJobs, cronJob('j', { [field]: ages - 1 })),
  allowed.post(`a Job with ${field} of a year`, dave, jobs, job('j', { [field]: year })),
  allowed.post(`a CronJob with ${field} of a year`, dave, cronJobs, cronJob('j', { [field]: year })),
])

const changeRows: readonly Row[] = [
  allowed.patch('an old Deployment is labelled', dave, `${deployments}/endless`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('an old Deployment is scaled down', dave, `${deployments}/endless/scale`, { spec: { replicas: 0 } }),
  allowed.patch('an old Deployment with a finalizer is scaled down', dave, `${deployments}/held`, { spec: { replicas: 0 } }),
  allowed.remove('an old Deployment is deleted', dave, `${deployments}/endless`),
  allowed.strategicPatch('an old Deployment is cured', dave, `${deployments}/endless`, {
    spec: { template: { spec: { terminationGracePeriodSeconds: 30 } } },
  }),
  refused.strategicPatch('an old Deployment is changed and not cured', dave, `${deployments}/endless`, {
    spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.test/y' }] } } },
  }),
  allowed.patch('the finalizer of an old Deployment is removed', dave, `${deployments}/held`, {
    spec: { template: { metadata: { finalizers: null } } },
  }),
  refused.patch('an old Deployment gets another finalizer', dave, `${deployments}/held`, {
    spec: { template: { metadata: { finalizers: ['example.com/other'] } } },
  }),
  allowed.patch('an old pod is annotated', dave, `${pods}/endless`, { metadata: { annotations: { a: 'b' } } }),
  allowed.strategicPatch('an old pod gets another image', dave, `${pods}/endless`, {
    spec: { containers: [{ name: 'main', image: 'registry.test/y' }] },
  }),
  refused.jsonPatch('a running pod goes to nodes that are drained', dave, `${pods}/runner`, [
    { op: 'add', path: '/spec/tolerations/-', value: tolerated },
  ]),
  allowed.patch('an old Job is labelled', dave, `${jobs}/endless`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('an old Job gets a deadline', dave, `${jobs}/endless`, { spec: { activeDeadlineSeconds: 60 } }),
  refused.patch('an old Job stays for as long again', dave, `${jobs}/endless`, { spec: { ttlSecondsAfterFinished: ages - 2 } }),
  refused.post(
    'the controller of ReplicaSets makes a pod of an old template',
    replicaSetController,
    pods,
    made('Pod', 'p', {
      ...plain,
      terminationGracePeriodSeconds: ages,
    }),
  ),
  allowed.post('the controller of Jobs makes its pod', jobController, pods, ownedBy('batch/v1', 'Job')),
  refused.post(
    'the controller of ReplicaSets makes a pod with the finalizer of Jobs',
    replicaSetController,
    pods,
    ownedBy('apps/v1', 'ReplicaSet'),
  ),
  refused.post('a developer makes a pod of a Job, which need not be there', dave, pods, ownedBy('batch/v1', 'Job')),
  refused.post('a pod with the finalizer of Jobs and another owner', dave, pods, ownedBy('v1', 'ConfigMap')),
  allowed.post(
    'the controller of DaemonSets makes its pod',
    daemonSetController,
    pods,
    made('Pod', 'p', {
      ...plain,
      tolerations: [tolerated],
    }),
  ),
]

export const podEndRows: readonly Row[] = [...templateRows, ...jobRows, ...changeRows]

/** A DELETE with a body is a dry run by its body alone. */
const options = (gracePeriodSeconds: number) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  gracePeriodSeconds,
  dryRun: ['All'],
})
const eviction = (deleteOptions?: object, name = 'runner') => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...(deleteOptions === undefined ? {} : { deleteOptions }),
})
const tooLong = expecting('pod-deletion')

/** Kubernetes ends a pod without a node at once, whatever the deletion asks for, and deletes pods of nodes that do not exist. */
export const podDeletionFixtures: readonly Existing[] = [
  { path: '/api/v1/nodes', object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'silent' } } },
  {
    path: pods,
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'lasting' }, spec: { ...plain, nodeName: 'silent' } },
  },
]

/** About a rule that is a policy only, so that these rows are not in the matrix. */
export const podDeletionRows: readonly Row[] = [
  tooLong.remove('a deletion that takes 68 years, by the query', dave, `${pods}/lasting?gracePeriodSeconds=${ages}`),
  tooLong.remove('a deletion that takes 68 years, by the body', dave, `${pods}/lasting`, options(ages)),
  tooLong.remove('deletions of all pods that take 68 years', dave, `${pods}?gracePeriodSeconds=${ages}`),
  tooLong.remove('deletions of all pods that take 68 years, by the body', dave, pods, options(ages)),
  tooLong.post('an eviction that takes 68 years', dave, `${pods}/runner/eviction`, eviction(options(ages))),
  tooLong.remove('a deletion by a platform admin that takes 68 years', platformAdministrator, `${pods}/lasting`, options(ages)),
  allowed.remove('a deletion', dave, `${pods}/runner`),
  allowed.remove('a deletion at once', dave, `${pods}/runner?gracePeriodSeconds=0`),
  allowed.remove('a deletion that takes an hour', dave, `${pods}/runner`, options(3600)),
  allowed.remove('deletions of all pods', dave, pods),
  allowed.post('an eviction', dave, `${pods}/runner/eviction`, eviction()),
  allowed.post('an eviction that takes an hour', dave, `${pods}/runner/eviction`, eviction(options(3600))),
]

const budgets = '/apis/policy/v1/namespaces/acme/poddisruptionbudgets'
const always = { unhealthyPodEvictionPolicy: 'AlwaysAllow' }
const budget = (name: string, spec: object, more: object = always): Body => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'x' } }, ...spec, ...more },
})
const blocked = expecting('disruption-budgets')

export const budgetFixtures: readonly Existing[] = [{ path: budgets, object: budget('old', { minAvailable: '100%' }) }]

export const budgetRows: readonly Row[] = [
  ...[
    { maxUnavailable: 0 },
    { maxUnavailable: '0%' },
    { maxUnavailable: '00%' },
    { minAvailable: '100%' },
    { minAvailable: 1000 },
    { minAvailable: 1 },
    {},
  ].map(spec => blocked.post(`a budget of ${JSON.stringify(spec)}`, dave, budgets, budget('b', spec))),
  blocked.post('a budget that counts pods which never become ready', dave, budgets, budget('b', { maxUnavailable: 1 }, {})),
  blocked.patch('an old budget is changed and not cured', dave, `${budgets}/old`, { spec: { minAvailable: '99%' } }),
  allowed.patch('an old budget is labelled', dave, `${budgets}/old`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('an old budget is cured', dave, `${budgets}/old`, { spec: { minAvailable: null, maxUnavailable: 1 } }),
  allowed.remove('an old budget is deleted', dave, `${budgets}/old`),
  ...[{ maxUnavailable: 1 }, { maxUnavailable: '1%' }, { maxUnavailable: '100%' }].map(spec =>
    allowed.post(`a budget of ${JSON.stringify(spec)}`, dave, budgets, budget('b', spec)),
  ),
  allowed.post('a cluster administrator’s budget', clusterAdministrator, budgets, budget('b', { maxUnavailable: 0 })),
  allowed.post('a budget elsewhere', dave, budgets.replace('acme', 'other'), budget('b', { maxUnavailable: 0 })),
]
