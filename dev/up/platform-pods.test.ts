// Which pod leads, by Leases as they are in a cluster.
import { describe, expect, test } from 'vitest'
import type { AdminClient } from '../cluster/control-plane/admin-client.ts'
import { leadingPod } from './platform-pods.ts'

/** An API server with these Leases and two pods of the controllers. */
function clusterWith(leases: Readonly<Record<string, string>>): AdminClient {
  const pods = ['controllers-a', 'controllers-b'].map(name => ({
    metadata: { name, uid: `uid-${name}` },
    status: { podIP: '10.0.0.1' },
  }))
  const items = Object.entries(leases).map(([name, holderIdentity]) => ({ metadata: { name }, spec: { holderIdentity } }))
  const call = async (_method: string, path: string) => ({ items: path.endsWith('/leases') ? items : pods })
  return { call } as unknown as AdminClient
}

describe('leadingPod', () => {
  test('is the pod whose process holds the Lease of either form', async () => {
    const held = 'controllers-b_4f6d6c9e-7c2b-4a53-8b53-9d1d0a3f0c11'
    for (const name of ['sekisho', 'sekisho-controllers'])
      expect((await leadingPod(clusterWith({ [name]: held }))).name).toBe('controllers-b')
  })

  test('is not misled by the Lease that the other form left, nor by that of the broker', async () => {
    const leases = { sekisho: 'gone_1', 'sekisho-broker': 'controllers-a_2', 'sekisho-controllers': 'controllers-b_3' }
    expect((await leadingPod(clusterWith(leases))).name).toBe('controllers-b')
  })

  test('is nobody while the Lease is released, or held by a pod that is gone', async () => {
    await expect(leadingPod(clusterWith({ 'sekisho-controllers': '' }))).rejects.toThrow('held by nobody')
    await expect(leadingPod(clusterWith({ 'sekisho-controllers': 'gone_1' }))).rejects.toThrow('held by gone')
  })
})
