// The end of a tenant's namespace on a real API server: a pod that nobody ends is forced long after its grace period, and not
// before; what a finalizer holds is named and kept.
import { expect, test } from 'vitest'
import { configMaps, deployments, namespaces, pods } from '../../src/api/builtin/index.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { endNamespaces } from '../../src/controllers/tenant/end/end-namespaces.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openTestStore } from '../fixtures/databases.ts'
import { withKube } from '../fixtures/kube-access.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'

const fieldManager = 'tenant'
const finalizers = ['example.com/held']
const container = { name: 'main', image: 'registry.test/nothing' }

/** A store, and the end of the namespace as it is after so many seconds. */
async function ending(client: KubeClient, namespace: string) {
  const store = await openTestStore({ dataFolder: 'memory://' })
  const events: string[] = []
  const spec = { account: { host: 'github.localhost', id: 1, login: 'acme', type: 'User' as const }, namespace, roles: [] }
  const object = { apiVersion: tenant.apiVersion, kind: tenant.kind, metadata: { name: 'leaving', uid: 'u' }, spec }
  const endAfter = async (seconds: number) =>
    endNamespaces(
      {
        client,
        audit: store.audit,
        events: { record: (_, { message }) => events.push(message) },
        clock: { now: () => new Date(Date.now() + seconds * 1000) } as never,
      },
      object,
      [{ name: namespace, object: await client.get(namespaces, { name: namespace }) }],
    )
  return { store, events, endAfter }
}

test('a pod is forced and recorded once, long after its grace period', async () => {
  const { client, namespace } = await withKube()
  await giveRightsIn(namespace, 'application')
  const { store, events, endAfter } = await ending(await withClientOf('sekisho-controllers'), namespace)
  // The API server ends a pod without a node at once; this one is not the kubelet's, because nobody has the node.
  const spec = { nodeName: `silent-${namespace}`, terminationGracePeriodSeconds: 2 ** 31 - 1, containers: [container] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'endless', namespace }, spec }
  await client.create(pods, pod as never, { fieldManager })
  const key = { namespace, name: 'endless' }
  await client.delete(pods, key)
  await waitUntil('the pod to be deleted', async () => (await client.get(pods, key))?.metadata.deletionTimestamp)

  await endAfter(3600)
  expect([(await client.list(pods, { namespace })).length, events]).toEqual([1, []])
  await endAfter(3800)
  expect(await client.list(pods, { namespace })).toEqual([])
  expect(events).toEqual([expect.stringContaining(`pod endless of namespace ${namespace} had not ended`)])
  await endAfter(3800)
  const recorded = await store.audit.list({ namespace, limit: 10 })
  expect(recorded.map(({ action, object: what }) => [action, what])).toEqual([['pod.forced', `Pod/${namespace}/endless`]])
  await store.close()
})

test('what finalizers of others hold is named with the cure, and stays', async () => {
  const { client, namespace } = await withKube()
  const { store, endAfter } = await ending(client, namespace)
  const held = { name: 'held', namespace, finalizers }
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: held }, { fieldManager })
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } }
  const workload = { replicas: 0, selector: { matchLabels: { app: 'x' } }, template }
  const { apiVersion, kind } = deployments
  await client.create(deployments, { apiVersion, kind, metadata: held, spec: workload } as never, { fieldManager })
  await client.delete(namespaces, { name: namespace })
  await waitUntil('the namespace to say what remains', async () => {
    const { status } = (await client.get(namespaces, { name: namespace })) ?? {}
    const { message = '' } = status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining') ?? {}
    return ['configmaps.', 'deployments.apps'].every(one => message.includes(one))
  })

  expect(await endAfter(0)).toBeUndefined()
  const message = await endAfter(3600)
  expect(message).toContain(`namespace ${namespace} does not end`)
  expect(message).toContain('deployments.apps/held (example.com/held)')
  expect(message).toContain(`configmaps (kubectl get configmaps -n ${namespace} `)
  for (const type of [configMaps, deployments]) {
    expect(await client.get(type, { namespace, name: 'held' })).toBeDefined()
    await client.mergePatch(type, { namespace, name: 'held' }, { metadata: { finalizers: null } }, { fieldManager })
  }
  await store.close()
})
