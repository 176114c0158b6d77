// Attacks by the runtime of a pod: whoever escapes the RuntimeClass that the platform admin chose shares the kernel of the node
// with others; whoever tolerates other taints runs on nodes that are kept for others. The tenant of `acme` has no class, that
// of `classed` has one of each.
import { clusterAdministrator, controllers, dave, jobController, replicaSetController } from '../identities.ts'
import { type PodSpec, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('pod-runtime-class')
const plain = { containers: [{ name: 'main', image: 'registry.test/x' }] }
const tolerating = (...tolerations: readonly object[]): PodSpec => ({ ...plain, tolerations })
const withClass = (runtimeClassName: string): PodSpec => ({ ...plain, runtimeClassName })

const kataNodes = { key: 'kata', operator: 'Exists', effect: 'NoSchedule' }

const foreignTaints: readonly (readonly [string, PodSpec])[] = [
  ['a tolerance of every taint', tolerating({ operator: 'Exists' })],
  ['a tolerance of the control plane’s taint', tolerating({ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' })],
  ['a tolerance of an operator’s taint', tolerating({ key: 'dedicated', operator: 'Equal', value: 'platform' })],
  ['a tolerance of every value of a taint', tolerating({ key: 'dedicated', operator: 'Exists' })],
  ['a tolerance of a taint that begins like another', tolerating({ key: 'kubernetes.io/archive', operator: 'Exists' })],
]
const pods = workloads.get('Pod') ?? { path: () => '', object: () => ({}) }
const isolated = (spec: PodSpec): object => ({
  ...pods.object('isolated', spec),
  metadata: { name: 'isolated', labels: { 'sekisho.dev/isolated': 'true' } },
})

export const runtimeClassNamespaces = [
  [
    'classed',
    { 'sekisho.dev/purpose': 'application', 'sekisho.dev/runtime-class': 'kata', 'sekisho.dev/isolated-runtime-class': 'gvisor' },
    {
      'sekisho.dev/runtime-class-tolerations': 'kata|Exists||NoSchedule,dedicated|Equal|kata|',
      'sekisho.dev/isolated-runtime-class-tolerations': '',
    },
  ],
  // Only isolated Applications have a class.
  [
    'half-classed',
    { 'sekisho.dev/purpose': 'application', 'sekisho.dev/runtime-class': '', 'sekisho.dev/isolated-runtime-class': 'gvisor' },
    { 'sekisho.dev/runtime-class-tolerations': '', 'sekisho.dev/isolated-runtime-class-tolerations': '' },
  ],
] as const

const runtimeClass = (name: string, more: object = {}): object => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
  handler: name,
  ...more,
})
export const runtimeClassFixtures = [
  runtimeClass('kata', {
    overhead: { podFixed: { memory: '64Mi' } },
    scheduling: { nodeSelector: { kata: 'yes' }, tolerations: [kataNodes, { key: 'dedicated', value: 'kata' }] },
  }),
  runtimeClass('gvisor'),
  runtimeClass('open'),
]

export const runtimeClassRows: readonly Row[] = [
  ...[...workloads].flatMap(([kind, { path, object }]) => [
    ...foreignTaints.flatMap(([shape, spec]) => [
      refused.post(`${kind} with ${shape}`, dave, path('acme'), object('r', spec)),
      refused.post(`${kind} with ${shape}, in a namespace with a class`, dave, path('classed'), object('r', spec)),
    ]),
    refused.post(`${kind} with a class where there is none`, dave, path('acme'), object('r', withClass('kata'))),
    refused.post(`${kind} with another class`, dave, path('classed'), object('r', withClass('open'))),
    refused.post(`${kind} with the class of isolated Applications`, dave, path('classed'), object('r', withClass('gvisor'))),
    refused.post(`${kind} with a class, by the platform`, controllers, path('acme'), object('r', withClass('kata'))),
    allowed.post(`${kind} without a class`, dave, path('classed'), object('r', plain)),
    allowed.post(`${kind} with the class of the tenant`, dave, path('classed'), object('r', withClass('kata'))),
    allowed.post(
      `${kind} with the taints of the class`,
      dave,
      path('classed'),
      object('r', tolerating(kataNodes, { key: 'dedicated', operator: 'Equal', value: 'kata' })),
    ),
    allowed.post(`${kind} where only isolated Applications have a class`, dave, path('half-classed'), object('r', plain)),
    allowed.post(`${kind} with any class elsewhere`, dave, path('other'), object('r', withClass('open'))),
  ]),
  ...[controllers, replicaSetController, jobController, clusterAdministrator].flatMap(as => [
    refused.post(`${as.user} makes a pod with another class`, as, pods.path('classed'), pods.object('r', withClass('open'))),
    refused.post(
      `${as.user} makes an isolated pod with the class of others`,
      as,
      pods.path('classed'),
      isolated(withClass('kata')),
    ),
    refused.post(
      `${as.user} makes an isolated pod with the taint of others`,
      as,
      pods.path('classed'),
      isolated(tolerating(kataNodes)),
    ),
    allowed.post(`${as.user} makes an isolated pod`, as, pods.path('classed'), isolated(plain)),
    allowed.post(`${as.user} makes an isolated pod with its class`, as, pods.path('half-classed'), isolated(withClass('gvisor'))),
    refused.post(
      `${as.user} makes a pod with the class of isolated ones`,
      as,
      pods.path('half-classed'),
      pods.object('r', withClass('gvisor')),
    ),
  ]),
  refused.jsonPatch('dave lets a running pod stay on every node', dave, '/api/v1/namespaces/acme/pods/runner', [
    { op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } },
  ]),
  allowed.jsonPatch('dave labels a running pod that is older than the class', dave, '/api/v1/namespaces/classed/pods/older', [
    { op: 'add', path: '/metadata/labels', value: { app: 'older' } },
  ]),
  allowed.jsonPatch('dave lets it stay on a node that leaves', dave, '/api/v1/namespaces/classed/pods/older', [
    {
      op: 'add',
      path: '/spec/tolerations/-',
      value: { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoSchedule' },
    },
  ]),
]
