// Objects whose claim templates are older than the rule, with Kubernetes' own controllers at work: what exists goes on and can
// be ended, and nothing is made of the templates any more.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { policyFiles } from '../../src/admission/policies.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { clusterAdministrator, statefulSetController } from './identities.ts'
import type { Reply } from './impersonation.ts'
import { namespace, tenantLabel } from './objects.ts'

let cluster: AttackCluster

const claims = '/api/v1/namespaces/acme/persistentvolumeclaims'
const pods = '/api/v1/namespaces/acme/pods'
const statefulSets = '/apis/apps/v1/namespaces/acme/statefulsets'
const replicaSets = '/apis/apps/v1/namespaces/acme/replicasets'

const spec = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  storageClassName: 'of-globex',
  volumeName: 'pv-of-globex',
}
const selector = { matchLabels: { app: 'x' } }
const template = (more: object = {}): object => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image: 'registry.test/x' }], ...more },
})
const statefulSet = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas: 1,
    podManagementPolicy: 'Parallel',
    serviceName: 'x',
    selector,
    template: template(),
    volumeClaimTemplates: [{ metadata: { name: 'v' }, spec }],
  },
})
const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'old' },
  spec: {
    replicas: 1,
    selector,
    template: template({ volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec } } }] }),
  },
}

const as = (method: string, path: string, body?: unknown): Promise<Reply> => cluster.as(clusterAdministrator, method, path, body)
const scale = (path: string, replicas: number): Promise<unknown> =>
  cluster.admin.call('PATCH', `${path}/scale`, { spec: { replicas } }, 'application/merge-patch+json')
const until = (what: string, path: string, status: number): Promise<unknown> =>
  waitUntil(what, async () => (await cluster.admin.request('GET', path)).status === status)

type Items<T> = { readonly items: readonly T[] }
type Named = { readonly metadata: { readonly name: string } }

/** The messages of Events about a failure of the object. */
async function failures(name: string): Promise<string> {
  const events = (await cluster.admin.call('GET', '/api/v1/namespaces/acme/events')) as Items<{
    readonly reason: string
    readonly message: string
    readonly involvedObject: { readonly name: string }
  }>
  return events.items
    .filter(({ reason, involvedObject }) => reason === 'FailedCreate' && involvedObject.name === name)
    .map(({ message }) => message)
    .join('\n')
}

async function podsOf(prefix: string): Promise<readonly string[]> {
  const { items } = (await cluster.admin.call('GET', pods)) as Items<Named>
  return items.map(({ metadata }) => metadata.name).filter(name => name.startsWith(prefix))
}

beforeAll(async () => {
  cluster = await startAttackCluster({ name: 'template-cluster' })
  await cluster.admin.call('POST', '/api/v1/namespaces', namespace('acme', tenantLabel))
  await until('its ServiceAccount', '/api/v1/namespaces/acme/serviceaccounts/default', 200)
  await cluster.admin.call('POST', statefulSets, statefulSet('set'))
  await cluster.admin.call('POST', replicaSets, replicaSet)
  await until('the claim of the StatefulSet', `${claims}/v-set-0`, 200)
  await until('the pod of the StatefulSet', `${pods}/set-0`, 200)
  await waitUntil('the pod of the ReplicaSet', async () => (await podsOf('old-')).length === 1)
  const manifests = policyFiles()
  for (const rule of ['claim-templates', 'volume-claims', 'reserved-metadata'])
    for (const manifest of manifests.get(`${rule}.yaml`) ?? []) await cluster.admin.apply(admissionPath(manifest), manifest)
  await waitUntil('the policies in force', async () => {
    const replies = await Promise.all([
      as('POST', `${statefulSets}?dryRun=All`, statefulSet('new')),
      cluster.as(statefulSetController, 'POST', `${claims}?dryRun=All`, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'c' },
        spec,
      }),
    ])
    return replies.every(({ status }) => status === 403)
  })
})
afterAll(async () => {
  await cluster?.stop()
})

test('a StatefulSet that exists makes no more claims of a forbidden template, may be scaled down, and ends', async () => {
  const path = `${statefulSets}/set`
  expect((await as('PATCH', `${path}?dryRun=All`, { spec: { replicas: 2 } })).message).toContain('sekisho-claim-templates')
  // Its subresource does not show the template: the claim is refused instead, and with it the pod.
  await scale(path, 2)
  await waitUntil('the refused claim', async () => (await failures('set')).includes("'sekisho-volume-claims'"))
  expect((await cluster.admin.request('GET', `${claims}/v-set-1`)).status).toBe(404)
  expect(await podsOf('set-')).toEqual(['set-0'])
  await cluster.admin.call('PATCH', path, { spec: { replicas: 0 } }, 'application/merge-patch+json')
  await until('no pod', `${pods}/set-0`, 404)
  await cluster.admin.call('DELETE', path)
  await until('its end', path, 404)
})

test('a ReplicaSet that exists gets no more pods of a template with a forbidden ephemeral volume, and ends', async () => {
  const path = `${replicaSets}/old`
  const [pod] = await podsOf('old-')
  await cluster.admin.call('DELETE', `${pods}/${pod}`)
  await waitUntil('the refused pod', async () => (await failures('old')).includes("'sekisho-claim-templates'"))
  await scale(path, 0)
  await cluster.admin.call('DELETE', path)
  await until('its end', path, 404)
  await waitUntil('no pod', async () => (await podsOf('old-')).length === 0)
})
