import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Lease } from '../../api/builtin/index.ts'
import { createFakeClock, type FakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { KubeError } from '../client/errors.ts'
import { createLeaseHolder, type LeaseHolder } from './lease.ts'
import { claim, microTime, type ObservedLease, observe } from './lease-decision.ts'

const key = { namespace: 'ns', name: 'leader' }

/** One Lease with optimistic locking, on a connection that can be cut per candidate. */
function leaseServer() {
  let lease: Lease | undefined
  let version = 0
  const cut = new Set<string>()
  const store = (spec: Lease['spec'], uid: string): Lease => {
    version += 1
    lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...key, uid, resourceVersion: String(version) },
      spec: spec ?? {},
    }
    return lease
  }
  const client = (candidate: string) => {
    const reach = (): void => {
      if (cut.has(candidate)) throw new KubeError('no connection', { status: 0, reason: 'Unreachable' })
    }
    return {
      async get() {
        reach()
        return lease
      },
      async create(_: unknown, object: Lease) {
        reach()
        if (lease !== undefined) throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' })
        return store(object.spec, `uid-${version}`)
      },
      async mergePatch(_type: unknown, _key: unknown, patch: { metadata: { resourceVersion: string }; spec: Lease['spec'] }) {
        reach()
        if (lease === undefined) return undefined
        if (lease.metadata.resourceVersion !== patch.metadata.resourceVersion)
          throw new KubeError('changed', { status: 409, reason: 'Conflict' })
        return store({ ...lease.spec, ...patch.spec }, lease.metadata.uid ?? '')
      },
    }
  }
  return { client, cut, lease: () => lease, remove: () => (lease = undefined) }
}

type Candidate = { readonly holder: LeaseHolder; readonly stop: () => Promise<void>; readonly changes: boolean[] }

function candidate(server: ReturnType<typeof leaseServer>, identity: string, clock: FakeClock, rate = 1): Candidate {
  const changes: boolean[] = []
  const stopping = new AbortController()
  const holder = createLeaseHolder({
    client: server.client(identity) as never,
    key,
    identity,
    clock: {
      // The candidate's own clock, which may run faster or slower than the common one.
      now: () => new Date(clock.now().getTime() * rate),
      sleep: (milliseconds, signal) => clock.sleep(milliseconds / rate, signal),
      monotonic: () => clock.monotonic() * rate,
    },
    random: () => 0.5,
    log: silentLog,
    onChange: leads => changes.push(leads),
  })
  const running = holder.run(stopping.signal)
  return {
    holder,
    changes,
    async stop() {
      stopping.abort()
      await running
      await holder.release()
    },
  }
}

test('the first candidate leads, the second waits, and takes over within one retry of a stop', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const first = candidate(server, 'first', clock)
  await settle()
  const second = candidate(server, 'second', clock)
  await clock.advance(60_000)
  expect([first.holder.isLeader(), second.holder.isLeader()]).toEqual([true, false])
  await first.stop()
  expect(first.changes).toEqual([true, false])
  await clock.advance(2500)
  expect(second.holder.isLeader()).toBe(true)
  expect(server.lease()?.spec?.leaseTransitions).toBe(1)
  await second.stop()
})

test('a leader that cannot reach the server gives up before another may take over', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const first = candidate(server, 'first', clock)
  await settle()
  const second = candidate(server, 'second', clock)
  await clock.advance(10_000)
  server.cut.add('first')
  await clock.advance(10_100)
  expect([first.holder.isLeader(), second.holder.isLeader()]).toEqual([false, false])
  await clock.advance(9000)
  expect([first.holder.isLeader(), second.holder.isLeader()]).toEqual([false, true])
  server.cut.clear()
  await clock.advance(30_000)
  expect([first.holder.isLeader(), second.holder.isLeader()]).toEqual([false, true])
  expect(first.changes).toEqual([true, false])
  await Promise.all([first.stop(), second.stop()])
})

test('the renew deadline counts from before the request, not from the response', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const { holder, stop } = candidate(
    {
      ...server,
      client: identity => {
        const connection = server.client(identity)
        const unreachable = new KubeError('no connection', { status: 0, reason: 'Unreachable' })
        // It acquires the lease by a create after a slow GET, and can never renew it.
        return { ...connection, get: () => clock.sleep(4000).then(connection.get), mergePatch: () => Promise.reject(unreachable) }
      },
    },
    'slow',
    clock,
  )
  await clock.advance(4000)
  expect(holder.isLeader()).toBe(true)
  await clock.advance(5999)
  expect(holder.isLeader()).toBe(true)
  await clock.advance(1)
  expect(holder.isLeader()).toBe(false)
  await Promise.all([stop(), clock.advance(20_000)])
})

test('a loss is reported within a second, also while a request hangs', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  let hangs = false
  const { changes, stop } = candidate(
    {
      ...server,
      client: identity => {
        const connection = server.client(identity)
        const hanging = async (): Promise<void> => (hangs ? clock.sleep(60_000) : undefined)
        return {
          ...connection,
          get: () => hanging().then(connection.get),
          mergePatch: (...parameters: Parameters<typeof connection.mergePatch>) =>
            hanging().then(() => connection.mergePatch(...parameters)),
        }
      },
    },
    'only',
    clock,
  )
  await clock.advance(9500)
  expect(changes).toEqual([true])
  hangs = true
  await clock.advance(11_000)
  expect(changes).toEqual([true, false])
  await Promise.all([stop(), clock.advance(60_000)])
})

test('a leader whose requests take 4 s each keeps its lease', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  let slow = false
  const late = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (slow) await clock.sleep(4000)
    return answer()
  }
  const { holder, changes, stop } = candidate(
    {
      ...server,
      client: identity => {
        const connection = server.client(identity)
        return {
          ...connection,
          get: () => late(connection.get),
          mergePatch: (type: unknown, name: unknown, patch: Parameters<typeof connection.mergePatch>[2]) =>
            late(() => connection.mergePatch(type, name, patch)),
        }
      },
    },
    'slow',
    clock,
  )
  await clock.advance(1000)
  slow = true
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000)
    expect(holder.isLeader()).toBe(true)
  }
  expect(changes).toEqual([true])
  await Promise.all([stop(), clock.advance(20_000)])
})

test('a dead leader is followed as soon as its lease expires', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const dead = candidate(server, 'dead', clock)
  await settle()
  expect(dead.holder.isLeader()).toBe(true)
  server.cut.add('dead')
  const heir = candidate(server, 'heir', clock)
  await clock.advance(14_999)
  expect(heir.holder.isLeader()).toBe(false)
  await clock.advance(1)
  expect(heir.holder.isLeader()).toBe(true)
  await Promise.all([dead.stop(), heir.stop(), clock.advance(20_000)])
})

test('a wall clock that is set back or forward does not extend leadership', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const holder = candidate(server, 'only', clock)
  await clock.advance(1000)
  expect(holder.holder.isLeader()).toBe(true)
  server.cut.add('only')
  clock.step(-3_600_000)
  await clock.advance(10_500)
  expect(holder.holder.isLeader()).toBe(false)
  await holder.stop()
})

test('a deleted Lease is recreated by the first candidate', async () => {
  const clock = createFakeClock()
  const server = leaseServer()
  const holder = candidate(server, 'only', clock)
  await clock.advance(1000)
  server.remove()
  await clock.advance(5000)
  expect(holder.holder.isLeader()).toBe(true)
  expect(server.lease()?.spec?.holderIdentity).toBe('only')
  await holder.stop()
})

test('there are never two leaders, whatever connections break and whichever clock runs up to a fifth too fast or slow', async () => {
  const step = fc.record({
    who: fc.constantFrom('a', 'b', 'c'),
    do: fc.constantFrom('cut' as const, 'join', 'wait'),
    milliseconds: fc.integer({ min: 1, max: 9000 }),
  })
  const rates = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: 0.8, max: 1.2, noNaN: true })))
  await fc.assert(
    fc.asyncProperty(rates, fc.array(step, { maxLength: 25, size: 'max' }), async (speeds, steps) => {
      const clock = createFakeClock()
      const server = leaseServer()
      const all = ['a', 'b', 'c'].map((identity, index) => candidate(server, identity, clock, speeds[index] ?? 1))
      for (const each of steps) {
        if (each.do === 'cut') server.cut.add(each.who)
        if (each.do === 'join') server.cut.delete(each.who)
        for (let passed = 0; passed < each.milliseconds; passed += 250) {
          await clock.advance(250)
          expect(all.filter(({ holder }) => holder.isLeader()).length).toBeLessThanOrEqual(1)
        }
      }
      server.cut.clear()
      await clock.advance(40_000)
      expect(all.filter(({ holder }) => holder.isLeader()).length).toBe(1)
      for (const { stop } of all) await stop()
    }),
    { numRuns: 25 },
  )
})

test('the lease of another holder expires by the time since its record was first observed, which restarts when the record changes', () => {
  const lease = (resourceVersion: string, holderIdentity: string): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...key, uid: 'u', resourceVersion },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' },
  })
  const wall = new Date('2026-01-01T00:00:00Z')
  const claimed = (sighting: ObservedLease, now: number) => claim(sighting, 'me', { now, wall }, 15_000)
  const seen = observe(undefined, lease('1', 'other'), 1000)
  const taken = { holderIdentity: 'me', acquireTime: microTime(wall), renewTime: microTime(wall), leaseTransitions: 1 }
  expect(claimed(seen, 15_999)).toBeUndefined()
  expect(claimed(observe(seen, lease('1', 'other'), 15_000), 16_000)).toMatchObject(taken)
  expect(claimed(observe(seen, lease('2', 'other'), 15_000), 16_000)).toBeUndefined()
  expect(claimed(observe(seen, lease('2', ''), 15_000), 15_000)).toMatchObject(taken)
  expect(claimed(observe(seen, lease('2', 'me'), 15_000), 99_000)).toMatchObject({ ...taken, leaseTransitions: 0 })
  expect(claimed(observe(seen, undefined, 15_000), 15_000)).toMatchObject({ ...taken, leaseTransitions: 0 })
  expect(microTime(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678000Z')
})
