// Attacks by where pods run and before whom: priority, nodes, taints, run-time classes, drivers.
import { clusterAdministrator, controllers, dave, jobController, replicaSetController } from '../identities.ts'
import { workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('pod-placement')
const container = { name: 'main', image: 'registry.test/x' }
const plain = { containers: [container] }

const shapes: readonly (readonly [string, object])[] = [
  ['a priority of the system', { priorityClassName: 'system-node-critical' }],
  ['a node', { nodeName: 'node-1' }],
  ['another scheduler', { schedulerName: 'mine' }],
  ['a tolerance of every taint', { tolerations: [{ operator: 'Exists' }] }],
  [
    'a tolerance of the control plane’s taint',
    { tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }] },
  ],
  ['a tolerance of an operator’s taint', { tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'platform' }] }],
  ['an inline volume of a driver', { volumes: [{ name: 'v', csi: { driver: 'secrets-store.csi.k8s.io' } }] }],
]
const runtimeClass = ['another run-time class', { runtimeClassName: 'mine' }] as const
const ordinary = {
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
    { key: 'kubernetes.io/arch', operator: 'Equal', value: 'arm64' },
  ],
}

/** The API server itself refuses a pod whose RuntimeClass does not exist, so that shape is tried on templates only. */
export const podRows: readonly Row[] = [
  ...[...workloads].flatMap(([kind, { path, object }]) => [
    ...[...shapes, ...(kind === 'Pod' ? [] : [runtimeClass])].flatMap(([shape, spec]) => [
      refused.post(`${kind} with ${shape}`, dave, path('acme'), object('placed', { ...plain, ...spec })),
    ]),
    refused.post(`${kind} with a node by the platform`, controllers, path('acme'), object('p', { ...plain, nodeName: 'n' })),
    expecting('pod-placement', 'build-pods').post(
      `${kind} in a build namespace with a node`,
      clusterAdministrator,
      path('acme-build'),
      object('p', { ...plain, nodeName: 'n' }),
    ),
    allowed.post(`${kind} with ordinary tolerations`, dave, path('acme'), object('ordinary', { ...plain, ...ordinary })),
    allowed.post(
      `${kind} with a priority elsewhere`,
      dave,
      path('other'),
      object('p', { ...plain, priorityClassName: 'system-node-critical' }),
    ),
  ]),
  ...[replicaSetController, jobController].map(as =>
    refused.post(`${as.user} makes a pod with a priority of the system`, as, '/api/v1/namespaces/acme/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { ...plain, priorityClassName: 'system-node-critical' },
    }),
  ),
  refused.jsonPatch('dave lets a running pod stay on every node', dave, '/api/v1/namespaces/acme/pods/runner', [
    { op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } },
  ]),
]
