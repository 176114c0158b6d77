// Attacks by the labels of pods that run, which put them behind many Services at once.
import {
  broker,
  certManager,
  clusterAdministrator,
  controllers,
  dave,
  falseCertManager,
  type Identity,
  impostor,
  replicaSetController,
  statefulSetController,
} from '../identities.ts'
import { type Existing, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('pod-labels')
const pods = '/api/v1/namespaces/acme/pods'
const one = `${pods}/labelled`
const pod = workloads.get('Pod') ?? { path: () => '', object: () => ({}) }
const labels = { app: 'x', tier: 'y' }
const labelled = (own: object, namespace = 'acme', name = 'labelled') => ({
  ...pod.object(name, { containers: [{ name: 'main', image: 'registry.test/x' }] }),
  metadata: { name, namespace, labels: own },
})
const set = (own: object) => ({ metadata: { labels: own } })
const ofBuilds: Identity = {
  ...impostor,
  user: 'system:serviceaccount:acme-build:builder',
}
const debug = { ephemeralContainers: [{ name: 'debug', image: 'registry.test/x' }] }

export const podLabelRows: readonly Row[] = [
  ...[dave, impostor, falseCertManager, ofBuilds].flatMap(as => [
    refused.patch(`${as.user} labels a pod`, as, one, set({ other: 'z' })),
    refused.patch(`${as.user} changes a label of a pod`, as, one, set({ app: 'z' })),
  ]),
  refused.patch('dave labels a pod without labels', dave, `${pods}/runner`, set({ app: 'x' })),
  refused.patch('dave exchanges a label', dave, one, set({ app: null, other: 'x' })),
  refused.patch('dave sets an empty label', dave, one, set({ constructor: '' })),
  refused.strategicPatch('dave replaces all labels', dave, one, set({ $patch: 'replace', app: 'z' })),
  refused.jsonPatch('dave adds a label by a JSON patch', dave, one, [{ op: 'add', path: '/metadata/labels/other', value: 'z' }]),
  refused.jsonPatch('dave replaces a label by a JSON patch', dave, one, [
    { op: 'replace', path: '/metadata/labels/app', value: 'z' },
  ]),
  refused.apply('dave applies a label', dave, `${one}?fieldManager=x&force=true`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'labelled', labels: { other: 'z' } },
  }),
  refused.patch('dave labels a pod through its status', dave, `${one}/status`, set({ other: 'z' })),
  // The API server takes no labels there.
  allowed.strategicPatch('dave sends a label with an ephemeral container', dave, `${one}/ephemeralcontainers`, {
    ...set({ other: 'z' }),
    spec: debug,
  }),
  allowed.patch('dave sends a label with other resources', dave, `${one}/resize`, set({ other: 'z' })),
  allowed.patch('dave removes a label', dave, one, set({ app: null })),
  allowed.patch('dave removes all labels', dave, one, { metadata: { labels: null } }),
  allowed.patch('dave annotates a pod', dave, one, { metadata: { annotations: { a: 'b' } } }),
  allowed.post('dave makes a pod with labels', dave, pods, labelled({ app: 'z' }, 'acme', 'new')),
  allowed.remove('dave deletes a pod with labels', dave, one),
  allowed.patch('dave labels a pod elsewhere', dave, '/api/v1/namespaces/other/pods/labelled', set({ other: 'z' })),
  ...[broker, controllers, clusterAdministrator, replicaSetController, statefulSetController, certManager].map(as =>
    allowed.patch(`${as.user} labels a pod`, as, one, set({ other: 'z' })),
  ),
]

export const podLabelFixtures: readonly Existing[] = [
  { path: pods, object: labelled(labels) },
  { path: '/api/v1/namespaces/other/pods', object: labelled(labels, 'other') },
]
