// Attacks by where pods run and before whom: priority, nodes, drivers. Taints and RuntimeClasses are in runtime-class-rows.ts.
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
  ['an inline volume of a driver', { volumes: [{ name: 'v', csi: { driver: 'secrets-store.csi.k8s.io' } }] }],
]
const ordinary = {
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
    { key: 'kubernetes.io/arch', operator: 'Equal', value: 'arm64' },
  ],
}

export const podRows: readonly Row[] = [
  ...[...workloads].flatMap(([kind, { path, object }]) => [
    ...shapes.map(([shape, spec]) =>
      refused.post(`${kind} with ${shape}`, dave, path('acme'), object('placed', { ...plain, ...spec })),
    ),
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
]
