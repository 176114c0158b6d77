// The name of an Application means the RemoteSync that builds it among others.
import { expect, test } from 'vitest'
import { KubeError } from '../../../kube/client/errors.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { syncNamed } from './named-sync.ts'

const sync = (name: string, application: string, ...otherApplications: readonly string[]) => ({
  metadata: { name },
  spec: { application, otherApplications },
})

function contextOf(syncs: readonly ReturnType<typeof sync>[], mayList = true) {
  const said: string[] = []
  const client = {
    get: async (_type: unknown, { name }: { name: string }) => syncs.find(({ metadata }) => metadata.name === name),
    async list() {
      if (!mayList) throw new KubeError('no', { status: 403, reason: 'Forbidden' })
      return syncs
    },
  }
  const terminal = { say: (text: string) => said.push(text) }
  return { context: { terminal, cluster: { client, namespace: 'acme' } } as unknown as ClusterContext, said }
}

test.each([
  ['worker', [sync('shop', 'shop', 'worker')], 'shop', ['worker is built by RemoteSync shop']],
  ['shop', [sync('shop', 'shop', 'worker')], 'shop', []],
  ['shop-0123456789ab', [sync('shop', 'shop', 'worker')], 'shop-0123456789ab', []],
  ['worker', [sync('worker', 'other'), sync('shop', 'shop', 'worker')], 'worker', []],
  ['worker', [sync('one', 'worker'), sync('two', 'x', 'worker')], 'worker', []],
])('%s', async (name, syncs, expected, messages) => {
  const { context, said } = contextOf(syncs)
  expect([await syncNamed(context, name), said]).toEqual([expected, messages])
})

test('who may not list RemoteSyncs is answered by the platform', async () => {
  expect(await syncNamed(contextOf([sync('shop', 'shop', 'worker')], false).context, 'worker')).toBe('worker')
})
