// Never two writers: candidates with clocks that run up to a tenth too fast or slow and show any hour, lines that break and answer
// late, processes that stand still for any time and go on. What counts is what the server sees: once another candidate's write has
// arrived under a newer lease, no write of an earlier holder arrives any more.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Lease } from '../../api/builtin/index.ts'
import { silentLog } from '../../lib/log.ts'
import { createFakeClock, type FakeClock } from '../../lib/testing/fake-clock.ts'
import type { KubeClient } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import { gateWrites } from '../client/write-gate.ts'
import { things } from '../testing/objects.ts'
import { createLeaseHolder } from './lease.ts'

const key = { namespace: 'ns', name: 'leader' }
// Less than what the renew deadline leaves: 15 s / 1.1 − 10 s / 0.9 = 2.5 s.
const longestFlight = 2000

/** The server's side: one Lease with optimistic locking, and the writers in the order in which their writes arrived. */
function createServer() {
  let lease: Lease | undefined
  let version = 0
  const writers: string[] = []
  const store = (spec: Lease['spec']): Lease => {
    version += 1
    const metadata = { ...key, uid: 'uid', resourceVersion: String(version) }
    lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: spec ?? {} }
    return lease
  }
  return {
    writers,
    get: () => lease,
    create(object: Lease) {
      if (lease !== undefined) throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' })
      return store(object.spec)
    },
    patch(patch: { metadata: { resourceVersion: string }; spec: Lease['spec'] }) {
      if (lease?.metadata.resourceVersion !== patch.metadata.resourceVersion)
        throw new KubeError('changed', { status: 409, reason: 'Conflict' })
      return store({ ...lease.spec, ...patch.spec })
    },
  }
}

/** `deaf`: the server answers its lease requests with errors, while its writes pass. */
type Weather = { cut: boolean; deaf: boolean; flightMilliseconds: number; resumesAt: number }

/** A process: its own idea of time, its line, and moments in which it stands still while the world goes on. */
function startCandidate(world: FakeClock, server: ReturnType<typeof createServer>, identity: string, rate: number, skew: number) {
  const weather: Weather = { cut: false, deaf: false, flightMilliseconds: 0, resumesAt: 0 }
  const stop = new AbortController()
  const awake = async (): Promise<void> => {
    while (world.monotonic() < weather.resumesAt) await world.sleep(weather.resumesAt - world.monotonic())
  }
  const clock = {
    now: () => new Date(world.now().getTime() * rate + skew),
    monotonic: () => world.monotonic() * rate,
    async sleep(milliseconds: number, signal?: AbortSignal) {
      await world.sleep(milliseconds / rate, signal)
      await awake()
    },
  }
  /** What left arrives, also when its sender stands still by then; the answer is heard when it is awake again. */
  async function travel<T>(arrive: () => T, forLease = true): Promise<T> {
    const { flightMilliseconds } = weather
    const cut = weather.cut || (forLease && weather.deaf)
    await world.sleep(flightMilliseconds)
    const answer = cut ? undefined : Promise.resolve().then(arrive)
    await answer?.catch(() => {})
    await awake()
    if (answer === undefined) throw new KubeError('no line', { status: 0, reason: 'Unreachable' })
    return answer
  }
  // The server knows one kind of Lease, and takes any other patch for a write of the candidate's.
  const client = {
    get: () => travel(server.get),
    create: (_: unknown, object: Lease) => travel(() => server.create(object)),
    mergePatch: (type: unknown, _: unknown, patch: Parameters<typeof server.patch>[0]) =>
      type === things ? travel(() => server.writers.push(identity), false) : travel(() => server.patch(patch)),
  } as unknown as KubeClient
  const random = () => 0.5
  const holder = createLeaseHolder({ client, key, identity, clock, random, log: silentLog, onChange: () => {} })
  const gated = gateWrites(client, () => ({ mayWrite: holder.isLeader, signal: stop.signal }))
  const running = holder.run(stop.signal)
  const writing = (async () => {
    while (!stop.signal.aborted) {
      // A refused write is the point of the gate, a lost one the weather's: either way the next one comes.
      await gated.mergePatch(things, key, {}, { fieldManager: 'unit' }).catch(() => {})
      await clock.sleep(300, stop.signal).catch(() => {})
    }
  })()
  const end = async (): Promise<void> => {
    stop.abort()
    await Promise.all([running, writing])
  }
  return { weather, end, holder }
}

const step = fc.record({
  // Trouble is worst for whoever leads.
  who: fc.constantFrom('leader' as const, 'leader' as const, 0, 1, 2),
  do: fc.constantFrom('cut' as const, 'deaf', 'join', 'slow', 'quick', 'freeze', 'wait'),
  milliseconds: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 8000, max: 25_000 })),
})
const three = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(arbitrary, { minLength: 3, maxLength: 3 })

test('never two writers, whatever clocks, lines and pauses do', async () => {
  const rates = three(fc.double({ min: 0.9, max: 1.1, noNaN: true }))
  const skews = three(fc.integer({ min: -86_400_000, max: 86_400_000 }))
  let handovers = 0
  await fc.assert(
    fc.asyncProperty(rates, skews, fc.array(step, { maxLength: 16, size: 'max' }), async (speeds, offsets, steps) => {
      const world = createFakeClock()
      const server = createServer()
      const all = speeds.map((rate, index) => startCandidate(world, server, `c${index}`, rate, offsets[index] ?? 0))
      for (const { who, do: what, milliseconds } of steps) {
        const weather = (who === 'leader' ? all.find(({ holder }) => holder.isLeader()) : all[who])?.weather
        if (weather === undefined) continue
        if (what === 'cut' || what === 'join') weather.cut = what === 'cut'
        if (what === 'deaf' || what === 'join') weather.deaf = what === 'deaf'
        if (what === 'slow' || what === 'quick') weather.flightMilliseconds = what === 'slow' ? milliseconds % longestFlight : 0
        if (what === 'freeze') weather.resumesAt = world.monotonic() + milliseconds
        await world.advance(what === 'freeze' ? milliseconds % 3000 : milliseconds)
      }
      for (const { weather } of all) Object.assign(weather, { cut: false, deaf: false, flightMilliseconds: 0 })
      await world.advance(40_000)
      const turns = server.writers.filter((writer, index) => writer !== server.writers[index - 1])
      const lease = server.get()?.spec
      // One turn for each time that the lease passed on at most: nobody writes again after a successor did, unless it leads anew.
      expect(turns.length).toBeLessThanOrEqual((lease?.leaseTransitions ?? 0) + 1)
      expect(turns.at(-1)).toBe(lease?.holderIdentity)
      expect(all.filter(({ holder }) => holder.isLeader())).toHaveLength(1)
      handovers += turns.length - 1
      await Promise.all([world.advance(30_000), ...all.map(({ end }) => end())])
    }),
    { numRuns: 40 },
  )
  // A property about hand-overs that saw none would say nothing.
  expect(handovers).toBeGreaterThan(10)
}, 120_000)
