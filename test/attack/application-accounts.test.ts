// The ServiceAccount of an Application with Kubernetes' own controllers at work, by the policies alone: what the platform
// rendered runs and rolls on under it; nothing of people does, and only who may change the Application reaches into its pods.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { policyFiles } from '../../src/admission/policies.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { clusterAdministrator, controllers, dave, type Identity } from './identities.ts'
import type { Reply } from './impersonation.ts'

const account = 'sekisho-app-held'
const rules = ['application-pods', 'application-pod-commands', 'account-writers', 'account-tokens']
const acme = '/namespaces/acme'
const pods = `/api/v1${acme}/pods`
const replicaSets = `/apis/apps/v1${acme}/replicasets`
const deployments = `/apis/apps/v1${acme}/deployments`
const statefulSets = `/apis/apps/v1${acme}/statefulsets`

/** May run commands in all pods of the namespace, and change nothing: a holder of half of a role. */
const operator: Identity = { user: 'github|github.localhost|1077', groups: ['attack:commands'] }
/** Holds Kubernetes' built-in role `edit`, which contains none of our kinds. */
const editor: Identity = { user: 'github|github.localhost|1078', groups: [] }

let cluster: AttackCluster
type Named = { readonly metadata: { readonly name: string; readonly uid: string } }
type Pod = Named & { readonly spec: { readonly serviceAccountName: string } }
type List<T> = { readonly items: readonly T[] }

const labels = { app: 'under', 'sekisho.dev/application': 'held' }
const container = (image: string): object => ({ name: 'main', image })
const templateOf = (image: string, more: object = {}): object => ({
  metadata: { labels },
  spec: { serviceAccountName: account, containers: [container(image)], ...more },
})

async function podsOf(prefix: string): Promise<readonly Pod[]> {
  const { items } = (await cluster.admin.call('GET', pods)) as List<Pod>
  return items.filter(({ metadata }) => metadata.name.startsWith(prefix))
}

beforeAll(async () => {
  cluster = await startAttackCluster({ name: 'accounts-cluster' })
  await createFixtures(cluster)
  const { admin } = cluster
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  const names = ['exec', 'attach', 'portforward', 'proxy', 'ephemeralcontainers'].map(one => `pods/${one}`)
  const [metadata, verbs] = [{ name: 'attack-commands' }, ['get', 'create', 'patch', 'update']]
  await admin.call('POST', `${rbac}/clusterroles`, {
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole', metadata },
    rules: [{ apiGroups: [''], resources: [...names, 'pods'], verbs }],
  })
  await admin.call('POST', `${rbac}${acme}/rolebindings`, {
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata },
    subjects: [{ apiGroup, kind: 'Group', name: 'attack:commands' }],
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
  })
  await admin.call('POST', `${rbac}${acme}/rolebindings`, {
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata: { name: 'attack-edit' } },
    subjects: [{ apiGroup, kind: 'User', name: editor.user }],
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'edit' },
  })
  const manifests = policyFiles()
  for (const rule of rules)
    for (const manifest of manifests.get(`${rule}.yaml`) ?? []) await admin.apply(admissionPath(manifest), manifest)
  const probe = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sekisho-app-probe' } }
  await waitUntil('the policies in force', async () => {
    const { status } = await cluster.as(dave, 'POST', `/api/v1${acme}/serviceaccounts?dryRun=All`, probe)
    return status === 403
  })
})
afterAll(() => cluster?.stop())

/** As the platform renders it. */
async function render(image: string): Promise<void> {
  const application = (await cluster.admin.call('GET', `/apis/apps.sekisho.dev/v1alpha1${acme}/applications/held`)) as Named
  const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Application', name: 'held', uid: application.metadata.uid }
  const object = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name: 'under', ownerReferences: [{ ...owner, controller: true }] },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: templateOf(image) },
  }
  const path = `${deployments}/under?fieldManager=sekisho.dev%2Fapplication&force=true`
  const reply = await cluster.send(controllers, { method: 'PATCH', path, body: object, type: 'application/apply-patch+yaml' })
  expect(reply.status, reply.message).toBeLessThan(300)
}

describe('what the platform rendered', () => {
  test('runs under the account, and rolls on to another release; the earlier ReplicaSet is not scaled by anybody else', async () => {
    await render('registry.test/one')
    const [first] = await waitUntil('its pod', async () => {
      const found = await podsOf('under-')
      return found.length === 1 ? found : undefined
    })
    expect(first?.spec.serviceAccountName).toBe(account)
    await render('registry.test/two')
    const sets = await waitUntil('two ReplicaSets', async () => {
      const { items } = (await cluster.admin.call('GET', replicaSets)) as List<Named>
      const found = items.filter(({ metadata }) => metadata.name.startsWith('under-'))
      return found.length === 2 ? found : undefined
    })
    for (const { metadata } of sets) {
      const reply = await cluster.as(dave, 'PATCH', `${replicaSets}/${metadata.name}`, { spec: { replicas: 3 } })
      expect([reply.status, reply.message]).toEqual([403, expect.stringContaining("'sekisho-application-pods'")])
    }
  })

  test('is not what a revision says that somebody planted: Kubernetes makes no pod of it', async () => {
    const own = { serviceName: 'x', selector: { matchLabels: { app: 'planted' } }, replicas: 0 }
    const template = { metadata: { labels: { app: 'planted' } }, spec: { containers: [container('registry.test/x')] } }
    const metadata = { name: 'planted' }
    await cluster.admin.call('POST', statefulSets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: { ...own, template },
    })
    // Whoever could write templates past the rule, or had one from before it, still gets no pod.
    const patch = { spec: { replicas: 1, template: { spec: { serviceAccountName: account } } } }
    await cluster.admin.call('PATCH', `${statefulSets}/planted`, patch, 'application/merge-patch+json')
    await waitUntil('the refusal', async () => {
      const { items } = (await cluster.admin.call('GET', `/api/v1${acme}/events`)) as List<{
        readonly message: string
        readonly involvedObject: { readonly name: string }
      }>
      return items.some(
        ({ message, involvedObject }) => involvedObject.name === 'planted' && message.includes("'sekisho-application-pods'"),
      )
    })
    expect(await podsOf('planted')).toEqual([])
  })
})

describe('the image of a pod that runs under the account', () => {
  const set = (as: Identity, path: string, image: string, name = 'main'): Promise<Reply> =>
    cluster.send(as, {
      method: 'PATCH',
      path: `${pods}/${path}`,
      body: { spec: { containers: [{ name, image }] } },
      type: 'application/strategic-merge-patch+json',
    })

  test('is what was rendered: neither a holder of edit nor who may change the Application puts another one there', async () => {
    const [pod] = await podsOf('under-')
    const name = pod?.metadata.name ?? ''
    // RBAC lets the holder of edit do it in every other pod.
    expect((await set(editor, 'runner?dryRun=All', 'registry.test/other', 'extra')).status).toBe(200)
    for (const as of [editor, dave]) {
      const reply = await set(as, name, 'registry.test/stolen')
      expect([as.user, reply.status, reply.message]).toEqual([
        as.user,
        403,
        expect.stringContaining("'sekisho-application-pods'"),
      ])
      await set(as, `${name}/resize`, 'registry.test/stolen')
      await set(as, `${name}/ephemeralcontainers`, 'registry.test/stolen')
    }
    const after = JSON.stringify(await cluster.admin.call('GET', `${pods}/${name}`))
    expect(after).not.toContain('registry.test/stolen')
  })
})

describe('commands in a pod under the account', () => {
  const passed = (reply: Reply): boolean => !reply.message.includes('ValidatingAdmissionPolicy')
  const reach = (as: Identity, pod: string, kind: string): Promise<Reply> =>
    cluster.as(as, 'POST', `${pods}/${pod}/${kind}?command=id&stdout=true&ports=1`)
  const debug = (as: Identity, pod: string): Promise<Reply> =>
    cluster.send(as, {
      method: 'PATCH',
      path: `${pods}/${pod}/ephemeralcontainers?dryRun=All`,
      body: { spec: { ephemeralContainers: [{ name: 'debug', image: 'registry.test/debug' }] } },
      type: 'application/strategic-merge-patch+json',
    })

  test('are for who may change the Application, in each way of reaching into it', async () => {
    const [pod] = await podsOf('under-')
    const name = pod?.metadata.name ?? ''
    for (const kind of ['exec', 'attach', 'portforward', 'proxy']) {
      const refused = await reach(operator, name, kind)
      expect([kind, refused.status, refused.message]).toEqual([
        kind,
        403,
        expect.stringContaining('for Application held: only who may change that Application'),
      ])
      for (const as of [dave, clusterAdministrator])
        expect(passed(await reach(as, name, kind)), `${kind} by ${as.user}`).toBe(true)
      expect(passed(await reach(operator, 'runner', kind)), `${kind} in another pod`).toBe(true)
    }
    expect((await debug(operator, name)).message).toContain("'sekisho-application-pod-commands'")
    expect((await debug(dave, name)).status).toBe(200)
    expect((await debug(operator, 'runner')).status).toBe(200)
  })
})
