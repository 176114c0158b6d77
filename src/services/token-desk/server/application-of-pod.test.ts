// Whose a pod is under the ServiceAccount of an Application: every link of the chain is the very object that the one below names.
import { expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/index.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { applicationOfPod } from './application-of-pod.ts'

type Link = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
const link = (apiVersion: string, kind: string, name: string): Link => ({ apiVersion, kind, name, uid: `${name}-uid` })
const shop = link('apps.sekisho.dev/v1alpha1', 'Application', 'shop')
const deployment = link('apps/v1', 'Deployment', 'shop-web')
const replicaSet = link('apps/v1', 'ReplicaSet', 'shop-web-1')
const cronJob = link('batch/v1', 'CronJob', 'shop-nightly')
const job = link('batch/v1', 'Job', 'shop-nightly-1')

function object({ apiVersion, kind, name, uid }: Link, owner?: Link, changes: object = {}): KubeObject {
  const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }]
  return { apiVersion, kind, metadata: { name, namespace: 'acme', uid, ownerReferences }, spec: {}, ...changes } as KubeObject
}

const podUnder = (owner?: Link): Pod => object(link('v1', 'Pod', 'p'), owner) as Pod
const ofDeployment = [object(replicaSet, deployment), object(deployment, shop), object(shop)]

function subjectOf(pod: Pod, objects: readonly KubeObject[], account = 'sekisho-app-shop') {
  const get = async (type: ResourceType, { namespace, name }: ObjectKey) =>
    objects.find(({ kind, metadata }) => kind === type.kind && metadata.name === name && metadata.namespace === namespace)
  return applicationOfPod({ get } as Pick<KubeClient, 'get'>, pod, account)
}

const subject = { kind: 'Application', namespace: 'acme', name: 'shop', uid: 'shop-uid' }

test.each([
  ['a Deployment', replicaSet, ofDeployment],
  ['a schedule', job, [object(job, cronJob), object(cronJob, shop), object(shop)]],
  ['a release job', job, [object(job, shop), object(shop)]],
])('a pod of %s is its Application’s', async (_what, owner, objects) => {
  expect(await subjectOf(podUnder(owner), objects)).toEqual(subject)
})

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const [replicas, deployed] = [object(replicaSet, deployment), object(deployment, shop)]

const broken: readonly (readonly [string, Pod, readonly KubeObject[], string?])[] = [
  ['a bare pod', podUnder(), ofDeployment],
  [
    'a pod that names the Application itself, which renders no pods, and another UID',
    podUnder({ ...shop, uid: 'x' }),
    ofDeployment,
  ],
  [
    'a pod of a StatefulSet',
    podUnder(link('apps/v1', 'StatefulSet', 's')),
    [object(link('apps/v1', 'StatefulSet', 's'), shop), object(shop)],
  ],
  ['a pod of a Job of nobody', podUnder(job), [object(job), object(shop)]],
  ['a pod of another ReplicaSet of that name', podUnder({ ...replicaSet, uid: 'other' }), ofDeployment],
  ['a pod whose ReplicaSet is gone', podUnder(replicaSet), [deployed, object(shop)]],
  [
    'a pod of a Deployment of that name that was made again',
    podUnder(replicaSet),
    [replicas, object({ ...deployment, uid: 'new' }, shop), object(shop)],
  ],
  ['a pod of an Application that was made again', podUnder(replicaSet), [replicas, deployed, object({ ...shop, uid: 'new' })]],
  ['a pod of an Application that is gone', podUnder(replicaSet), [replicas, deployed]],
  [
    'a pod of an Application that is being deleted',
    podUnder(replicaSet),
    [replicas, deployed, { ...object(shop), metadata: { ...object(shop).metadata, ...leaving } }],
  ],
  [
    'a pod of an isolated Application',
    podUnder(replicaSet),
    [replicas, deployed, object(shop, undefined, { spec: { isolated: true } })],
  ],
  ['a pod under the account of another Application', podUnder(replicaSet), ofDeployment, 'sekisho-app-other'],
  [
    'a chain that is too long',
    podUnder(job),
    [object(job, cronJob), object(cronJob, deployment), object(deployment, replicaSet), object(replicaSet, shop), object(shop)],
  ],
]

test.each(broken.map(([what, pod, objects, account]) => ({ what, pod, objects, account })))(
  '$what is nobody’s',
  async ({ pod, objects, account }) => {
    expect(await subjectOf(pod, objects, account)).toBeUndefined()
  },
)
