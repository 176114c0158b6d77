import { expect, test } from 'vitest'
import type { EndpointSlice } from '../../api/builtin/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { createSourceEndpoint, desiredSourceSlice } from './source-endpoint.ts'

/** One slice that all replicas write, and the replicas that wrote it. */
function cluster() {
  const clock = createFakeClock()
  const writers: string[] = []
  let slice: EndpointSlice | undefined
  const replica = (address: string) => {
    const state = { leads: false }
    const client = {
      get: async () => slice,
      async apply(_type: unknown, object: EndpointSlice) {
        writers.push(address)
        slice = object
        return object
      },
    } as unknown as KubeClient
    const loop = createSourceEndpoint({ client, isLeader: () => state.leads, address, port: 8081, clock, log: silentLog })
    loop.start()
    return { state, stop: loop.stop }
  }
  return {
    clock,
    writers,
    replica,
    overwrite: (other: EndpointSlice) => (slice = other),
    address: () => slice?.endpoints?.[0]?.addresses[0],
  }
}

test('the Service leads to the leader within a second of its election, and each leader writes once', async () => {
  const { clock, writers, replica, address } = cluster()
  const [one, two] = [replica('10.0.0.1'), replica('10.0.0.2')]
  await clock.advance(5000)
  expect(writers).toEqual([])
  one.state.leads = true
  await clock.advance(1000)
  expect(address()).toBe('10.0.0.1')
  await clock.advance(60_000)
  one.state.leads = false
  two.state.leads = true
  await clock.advance(1000)
  expect(address()).toBe('10.0.0.2')
  await clock.advance(60_000)
  two.state.leads = false
  one.state.leads = true
  await clock.advance(1000)
  expect(writers).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.1'])
  await Promise.all([one.stop(), two.stop()])
})

test('an endpoint that somebody else changed is written again', async () => {
  const { clock, writers, replica, overwrite, address } = cluster()
  const one = replica('10.0.0.1')
  one.state.leads = true
  await clock.advance(2000)
  overwrite({ ...desiredSourceSlice('10.9.9.9', 8081), metadata: { name: 'sekisho-source' } } as EndpointSlice)
  await clock.advance(16_000)
  expect(address()).toBe('10.0.0.1')
  expect(writers).toHaveLength(2)
  await one.stop()
})
