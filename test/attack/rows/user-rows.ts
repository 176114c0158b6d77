// Attacks by the user of a pod: limits that the kernel counts by user are shared by all pods of one user on a node.
import { clusterAdministrator, controllers, dave, replicaSetController } from '../identities.ts'
import { type PodSpec, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('pod-users')
const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`
const container = { name: 'main', image: 'registry.test/x' }
/** Of the fixture's range, which begins with 1073807360. */
const [before, first, last, after] = [1_073_807_359, 1_073_807_360, 1_073_872_895, 1_073_872_896]

const ofPod = (runAsUser: number): PodSpec => ({ containers: [container], securityContext: { runAsUser } })
const ofContainer = (runAsUser: number, list = 'containers'): PodSpec => ({
  containers: [container],
  [list]: [{ ...container, name: 'other', securityContext: { runAsUser } }],
})

const shapes: readonly (readonly [string, PodSpec])[] = [
  ['the user before the range', ofPod(before)],
  ['the first user of the next range', ofPod(after)],
  ['the last possible user', ofPod(2 ** 31 - 1)],
  ['the first user of the node above those of images', ofPod(65_536)],
  ['a container of another tenant’s user', ofContainer(after)],
  ['an init container of another tenant’s user', ofContainer(before, 'initContainers')],
  ['a user namespace', { containers: [container], hostUsers: false }],
]
const usual: readonly (readonly [string, PodSpec])[] = [
  ['no user', { containers: [container] }],
  ['the user of an image', ofPod(1000)],
  ['the number of the platform’s user, which becomes one of the tenant', ofPod(65_532)],
  ['a container of an image’s user', ofContainer(999)],
  ['the first user of the range', ofPod(first)],
  ['the last user of the range', ofContainer(last)],
]

const { object } = workloads.get('Pod') ?? { object: () => ({}) }

export const userRows: readonly Row[] = [
  ...[dave, controllers, replicaSetController, clusterAdministrator].flatMap(as =>
    shapes.map(([shape, spec]) => refused.post(`${as.user} makes a pod with ${shape}`, as, pods('acme'), object('user', spec))),
  ),
  ...usual.map(([shape, spec]) => allowed.post(`dave makes a pod with ${shape}`, dave, pods('acme'), object('user', spec))),
  refused.post('a pod of a tenant without a range', clusterAdministrator, pods('unranged'), object('user', ofPod(1000))),
  allowed.post('a pod with any user elsewhere', dave, pods('other'), object('user', { ...ofPod(65_532), hostUsers: false })),
]
