// Attacks by the templates of PersistentVolumeClaims that are in StatefulSets and in pods: Kubernetes' controllers make the
// claims.
import {
  clusterAdministrator,
  controllerManager,
  controllers,
  dave,
  ephemeralVolumeController,
  replicaSetController,
  statefulSetController,
} from '../identities.ts'
import { type Body, type Existing, type PodSpec, type Workload, workloads } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'
import { classless, volumeChoices } from './volume-rows.ts'

const refused = expecting('claim-templates')
const claims = '/api/v1/namespaces/acme/persistentvolumeclaims'
const pods = '/api/v1/namespaces/acme/pods'
const statefulSets = '/apis/apps/v1/namespaces/acme/statefulsets'
const deployments = '/apis/apps/v1/namespaces/acme/deployments'

type Template = { readonly metadata?: object; readonly spec?: object }

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const container = { name: 'main', image: 'registry.test/x' }

/** A pod with an ephemeral volume of the template. */
const ephemeral = ({ metadata = {}, spec = {} }: Template): PodSpec => ({
  containers: [container],
  volumes: [
    { name: 'plain', emptyDir: {} },
    { name: 'v', ephemeral: { volumeClaimTemplate: { metadata, spec: { ...claimSpec, ...spec } } } },
  ],
})

const labels = { 'sekisho.dev/application': 'shop' }
const inEveryTemplate: readonly (readonly [string, Template])[] = [
  ...volumeChoices.map(([what, spec]) => [`a volume ${what}`, { spec }] as const),
  ['a volume without a class by the annotation', { metadata: { annotations: classless } }],
  ['a label of the platform', { metadata: { labels } }],
  ['an annotation of the platform', { metadata: { annotations: { 'sekisho.dev/when-deleted': 'Keep' } } }],
]
/** The API server itself refuses them in ephemeral volumes. */
const inStatefulSetsOnly: readonly (readonly [string, Template])[] = [
  ['an Application as its owner', { metadata: { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'Application', true)] } }],
  ['an owner of its own', { metadata: { ownerReferences: [ownerOf('v1', 'ConfigMap')] } }],
  ['a finalizer', { metadata: { finalizers: ['example.com/kept'] } }],
]

function statefulSet(name: string, template: Template, spec: object = {}): Body {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas: 2,
      serviceName: 'x',
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } },
      volumeClaimTemplates: [
        { metadata: { name: 'fine' }, spec: claimSpec },
        { metadata: { name: 'v', ...template.metadata }, spec: { ...claimSpec, ...template.spec } },
      ],
      ...spec,
    },
  }
}

function deployment(name: string, template: Template): Body {
  const body = workloadOf('Deployment').object(name, ephemeral(template))
  return { ...body, spec: { ...(body['spec'] as object), replicas: 2 } }
}

function workloadOf(kind: string): Workload {
  const workload = workloads.get(kind)
  if (!workload) throw new Error(`test/attack/objects.ts has no ${kind}`)
  return workload
}

const stolen: Template = { spec: { volumeName: 'pv-of-globex' } }
const ordinary: Template = {
  metadata: { labels: { team: 'x' }, annotations: { team: 'x' } },
  spec: { storageClassName: 'standard' },
}
const claimOf = (metadata: object): Body => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', ...metadata },
  spec: claimSpec,
})

export const claimTemplateFixtures: readonly Existing[] = [
  { path: statefulSets, object: statefulSet('old-claims', stolen) },
  { path: statefulSets, object: statefulSet('ordinary-claims', ordinary) },
  { path: deployments, object: deployment('old-ephemeral', stolen) },
  { path: pods, object: workloadOf('Pod').object('old-ephemeral', ephemeral(stolen)) },
]

/** What may be done to an object that is older than the rule. */
function olderThanTheRule(path: string): readonly Row[] {
  const template = (spec: object): object => ({ spec: { template: { spec } } })
  return [
    allowed.patch(`dave scales ${path} down`, dave, path, { spec: { replicas: 0 } }),
    allowed.patch(`dave scales ${path} down by its subresource`, dave, `${path}/scale`, { spec: { replicas: 0 } }),
    allowed.patch(`dave labels ${path}`, dave, path, { metadata: { labels: { a: 'b' } } }),
    allowed.remove(`dave removes ${path}`, dave, path),
    refused.patch(`dave scales ${path} up`, dave, path, { spec: { replicas: 3 } }),
    refused.patch(`dave edits the template of ${path}`, dave, path, template({ hostname: 'x' })),
    refused.patch(
      `a cluster administrator edits the template of ${path}`,
      clusterAdministrator,
      path,
      template({ hostname: 'x' }),
    ),
  ]
}

export const claimTemplateRows: readonly Row[] = [
  ...[...workloads].flatMap(([kind, { path, object }]) => [
    ...inEveryTemplate.map(([what, template]) =>
      refused.post(`${kind} with an ephemeral volume that has ${what}`, dave, path('acme'), object('c', ephemeral(template))),
    ),
    ...[controllers, clusterAdministrator, controllerManager].map(as =>
      refused.post(`${as.user} makes a ${kind} with such a volume`, as, path('acme'), object('c', ephemeral(stolen))),
    ),
    allowed.post(`${kind} with an ephemeral volume`, dave, path('acme'), object('c', ephemeral(ordinary))),
    allowed.post(`${kind} with such an ephemeral volume elsewhere`, dave, path('other'), object('c', ephemeral(stolen))),
  ]),
  ...[...inEveryTemplate, ...inStatefulSetsOnly].map(([what, template]) =>
    refused.post(`StatefulSet whose claims have ${what}`, dave, statefulSets, statefulSet('s', template)),
  ),
  ...[controllers, clusterAdministrator].map(as =>
    refused.post(`${as.user} makes a StatefulSet whose claims name a volume`, as, statefulSets, statefulSet('s', stolen)),
  ),
  refused.apply('dave applies one', dave, `${statefulSets}/applied?fieldManager=x`, statefulSet('applied', stolen)),
  allowed.post('StatefulSet with claims', dave, statefulSets, statefulSet('s', ordinary)),
  allowed.patch('dave scales it up', dave, `${statefulSets}/ordinary-claims`, { spec: { replicas: 3 } }),
  refused.patch('dave adds an ephemeral volume that names one', dave, `${statefulSets}/ordinary-claims`, {
    spec: { template: { spec: ephemeral(stolen) } },
  }),
  ...olderThanTheRule(`${statefulSets}/old-claims`),
  ...olderThanTheRule(`${deployments}/old-ephemeral`),
  allowed.patch('dave annotates a pod that is older than the rule', dave, `${pods}/old-ephemeral`, {
    metadata: { annotations: { a: 'b' } },
  }),
  allowed.remove('dave removes it', dave, `${pods}/old-ephemeral`),
  ...[replicaSetController, statefulSetController].map(as =>
    refused.post(
      `${as.user} makes a pod of a template that is older than the rule`,
      as,
      pods,
      workloadOf('Pod').object('c', ephemeral(stolen)),
    ),
  ),
  ...[statefulSetController, ephemeralVolumeController, controllerManager].flatMap(as => [
    expecting('reserved-metadata').post(`${as.user} makes a claim with a label of the platform`, as, claims, claimOf({ labels })),
    expecting('reserved-metadata').post(
      `${as.user} makes a claim with an owner of the platform`,
      as,
      claims,
      claimOf({ ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'Application', true)] }),
    ),
    allowed.post(
      `${as.user} makes a claim that a pod owns`,
      as,
      claims,
      claimOf({ ownerReferences: [ownerOf('v1', 'Pod', true)] }),
    ),
  ]),
]
