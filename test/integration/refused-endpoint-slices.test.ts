// Why nothing of ours refuses an EndpointSlice (docs/adr/0058-ports-of-a-service.md): where Kubernetes' controller may not
// create one, it does not take the addresses of deleted pods out of the others. This test is about Kubernetes; when it fails,
// slices can be bounded.
import { expect, test } from 'vitest'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { withNamespace } from '../fixtures/harness.ts'

type Events = { readonly items: readonly { readonly reason: string; readonly message: string; readonly count?: number }[] }
type Slices = { readonly items: readonly { readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null }[] }

const patience = { timeoutMilliseconds: limits.rollout }

async function namespaceWithPods() {
  const { admin, name } = await withNamespace()
  const core = `/api/v1/namespaces/${name}`
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${name}/endpointslices`
  const make = (plural: string, object: object) => admin.call('POST', `${core}/${plural}`, { apiVersion: 'v1', ...object })
  return {
    make,
    addresses: async () => {
      const { items } = (await admin.call('GET', slices)) as Slices
      return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(endpoint => endpoint.addresses)).toSorted()
    },
    refusals: async () => {
      const { items } = (await admin.call('GET', `${core}/events`)) as Events
      const refused = items.filter(
        ({ reason, message }) => reason === 'FailedToUpdateEndpointSlices' && /exceeded quota/.test(message),
      )
      return refused.reduce((sum, { count = 1 }) => sum + count, 0)
    },
    quotaIsCounted: async () => {
      const quota = (await admin.call('GET', `${core}/resourcequotas/slices`)) as { readonly status?: { readonly used?: object } }
      return quota.status?.used === undefined ? undefined : true
    },
    async runPod(pod: string, containerPort: number, podIP: string) {
      const container = { name: 'c', image: 'x', ports: [{ name: 'web', containerPort }] }
      const spec = { containers: [container], terminationGracePeriodSeconds: 0 }
      await make('pods', { kind: 'Pod', metadata: { name: pod, labels: { app: 'x' } }, spec })
      const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: 'True' }] }
      await admin.call('PATCH', `${core}/pods/${pod}/status`, { status }, 'application/merge-patch+json')
    },
    deletePod: (pod: string) => admin.call('DELETE', `${core}/pods/${pod}`),
  }
}

test('a slice that a quota refuses keeps the address of a deleted pod in another slice of its Service', async () => {
  const { make, addresses, refusals, quotaIsCounted, runPod, deletePod } = await namespaceWithPods()
  await make('resourcequotas', {
    kind: 'ResourceQuota',
    metadata: { name: 'slices' },
    spec: { hard: { 'count/endpointslices.discovery.k8s.io': '1' } },
  })
  await waitUntil('the quota is counted', quotaIsCounted, patience)
  // Pods with different numbers for the named port need a slice for each number. Without a node only unready addresses may be
  // published.
  const spec = { selector: { app: 'x' }, publishNotReadyAddresses: true, ports: [{ port: 80, targetPort: 'web' }] }
  await make('services', { kind: 'Service', metadata: { name: 'web' }, spec })
  await runPod('gone', 3000, '192.0.2.1')
  await runPod('stays', 3000, '192.0.2.2')
  const both = ['192.0.2.1', '192.0.2.2']
  await waitUntil('both pods in the first slice', async () => (await addresses()).length === 2, patience)
  await runPod('other-port', 4000, '192.0.2.3')
  await waitUntil('the second slice is refused', async () => (await refusals()) > 0, patience)

  await deletePod('gone')
  const before = await refusals()
  // One may have been under way when the pod was deleted.
  await waitUntil('two more refusals', async () => (await refusals()) >= before + 2, patience)
  expect(await addresses()).toEqual(both)
})
