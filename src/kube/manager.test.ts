import { expect, test } from 'vitest'
import { type Lease, leases } from '../api/builtin/index.ts'
import { silentLog } from '../lib/log.ts'
import { createFakeClock, settle } from '../lib/testing/fake-clock.ts'
import type { KubeClient } from './client/client.ts'
import { KubeError } from './client/errors.ts'
import { type ControllerDefinition, done, watches } from './controller/controller.ts'
import { createManager, type ManagerDeps } from './manager.ts'
import { createFakeServer } from './testing/fake-server.ts'
import { things } from './testing/objects.ts'

function managerOf(
  controllers: readonly ControllerDefinition[],
  extra: Partial<ManagerDeps> = {},
  line: object = {},
  tell: (what: string) => void = () => {},
) {
  const server = createFakeServer()
  const clock = createFakeClock()
  let lists = 0
  const refuse = async (): Promise<never> => {
    throw new Error('no write is expected')
  }
  // The fake server knows one kind; what these tests do not call refuses.
  const client = {
    get: refuse,
    list: refuse,
    create: refuse,
    apply: refuse,
    applyStatus: refuse,
    mergePatch: async () => undefined,
    delete: refuse,
    podLogs: refuse,
    snapshot: () => {
      lists += 1
      tell('list')
      return server.snapshot()
    },
    watch: (_: unknown, options: { resourceVersion: string; signal: AbortSignal }) => {
      tell('watch')
      options.signal.addEventListener('abort', () => tell('watch closed'))
      return server.watch(options.resourceVersion, options.signal)
    },
    ...line,
  } as unknown as KubeClient
  const manager = createManager({ client, log: silentLog, clock, random: () => 0.5, ...extra })
  for (const controller of controllers) manager.add(controller)
  return { manager, server, clock, lists: () => lists }
}

const idle = { for: things, resyncMilliseconds: 0, reconcile: async () => done } as const

test('one reflector serves every reader of a kind, and a cache asked for later fills by itself', async () => {
  const first = { ...idle, name: 'first', owns: [things], watches: [watches(things, () => [])] }
  const { manager, server, lists } = managerOf([first, { ...idle, name: 'second' }])
  server.put('a', '1')
  await manager.start()
  expect(manager.ready()).toBe(true)
  expect(manager.cache(things).list()).toHaveLength(1)
  expect(lists()).toBe(1)
  const later = manager.cache(things, { labelSelector: 'a=b' })
  expect(manager.ready()).toBe(false)
  await settle()
  expect(later.synced()).toBe(true)
  expect(lists()).toBe(2)
  await manager.stop()
  expect(manager.ready()).toBe(false)
})

test('a stop lets running work finish, takes no more, and then refuses writes', async () => {
  const log: string[] = []
  const { manager, server, clock } = managerOf([
    {
      ...idle,
      name: 'slow',
      concurrency: 1,
      async reconcile({ key, signal }) {
        log.push(`begin ${key.name}`)
        await clock.sleep(10_000, signal)
        await manager.client.mergePatch(things, key, {}, { fieldManager: 'unit' })
        log.push(`end ${key.name}`)
        return done
      },
    },
  ])
  server.put('a', '1')
  server.put('b', '1')
  await manager.start()
  await clock.advance(1000)
  const stopping = manager.stop()
  expect(manager.stop()).toBe(stopping)
  await clock.advance(10_000)
  await stopping
  expect(log).toEqual(['begin a', 'end a'])
  const late = manager.client.mergePatch(things, { namespace: 'ns', name: 'a' }, {}, { fieldManager: 'unit' })
  await expect(late).rejects.toThrow(/does not hold the lease/)
  expect(clock.sleepers()).toBe(0)
})

test('work that does not end is told to stop, then left behind, within thirty seconds', async () => {
  let toldAt: number | undefined
  const { manager, server, clock } = managerOf([
    {
      ...idle,
      name: 'hangs',
      reconcile: ({ signal }) => {
        signal.addEventListener('abort', () => {
          toldAt = clock.monotonic()
        })
        return new Promise(() => {})
      },
    },
  ])
  server.put('a', '1')
  await manager.start()
  await settle()
  let stopped = false
  void manager.stop().then(() => {
    stopped = true
  })
  await clock.advance(17_000)
  expect([toldAt, stopped]).toEqual([undefined, false])
  await clock.advance(12_999)
  expect([toldAt, stopped]).toEqual([18_000, true])
})

test('a stop while the first lists are on their way ends the start, and nothing runs', async () => {
  let runs = 0
  const reconcile = async () => {
    runs += 1
    return done
  }
  const { manager, server, clock } = managerOf([{ ...idle, name: 'never', reconcile }])
  server.put('a', '1')
  server.failNext(1000)
  const starting = manager.start()
  await clock.advance(5000)
  await manager.stop()
  await starting
  expect(runs).toBe(0)
  expect(clock.sleepers()).toBe(0)
})

/** The Lease as the server holds it, on the manager's own line to it; `down` cuts that line. */
function electionOf(told: (what: string) => void) {
  let lease: Lease | undefined
  let version = 0
  const line = { down: false }
  const answer = (spec: Lease['spec']): Lease => {
    version += 1
    const metadata = { namespace: 'ns', name: 'sekisho', uid: 'uid', resourceVersion: String(version) }
    lease = { apiVersion: leases.apiVersion, kind: leases.kind, metadata, spec: spec ?? {} }
    told(lease.spec?.holderIdentity ? 'lease held' : 'lease released')
    return lease
  }
  const reach = (): void => {
    if (line.down) throw new KubeError('no line', { status: 0, reason: 'Unreachable' })
  }
  const client = {
    async get() {
      reach()
      return lease
    },
    async create(_: unknown, object: Lease) {
      reach()
      return answer(object.spec)
    },
    async mergePatch(type: { kind: string }, _: unknown, patch: { spec: Lease['spec'] }) {
      if (type.kind !== 'Lease') return undefined
      reach()
      return answer({ ...lease?.spec, ...patch.spec })
    },
  }
  return { client, line, election: { namespace: 'ns', name: 'sekisho', identity: 'unit' } }
}

test('start: lists, then the lease, then work; stop: work, then the lease, then the watches', async () => {
  const told: string[] = []
  const tell = (what: string): void => {
    if (told.at(-1) !== what) told.push(what)
  }
  const { client, election } = electionOf(tell)
  const slow = {
    ...idle,
    name: 'slow',
    async reconcile() {
      tell('work begins')
      await clock.sleep(5000)
      tell('work ends')
      return done
    },
  }
  const { manager, server, clock } = managerOf([slow], { leaderElection: election }, client, tell)
  server.put('a', '1')
  await manager.start()
  await clock.advance(100)
  expect(told).toEqual(['list', 'watch', 'lease held', 'work begins'])
  const stopping = manager.stop()
  await clock.advance(6000)
  await stopping
  expect(told.filter(what => what !== 'lease held')).toEqual([
    'list',
    'watch',
    'work begins',
    'work ends',
    'lease released',
    'watch closed',
  ])
  expect(clock.sleepers()).toBe(0)
})

test('who loses the lease stops writing and working, and goes on serving its cache', async () => {
  let cut = false
  const { client, line, election } = electionOf(() => {})
  const hangs = {
    ...idle,
    name: 'hangs',
    reconcile: ({ signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => {
          cut = true
          reject(signal.reason)
        }),
      ),
  }
  const { manager, server, clock } = managerOf([hangs], { leaderElection: election }, client)
  server.put('a', '1')
  await manager.start()
  await clock.advance(1000)
  const write = () => manager.client.mergePatch(things, { namespace: 'ns', name: 'a' }, {}, { fieldManager: 'unit' })
  await write()
  line.down = true
  // 10 s after the last renewal at the latest; others may take over after 15 s.
  await clock.advance(10_001)
  await expect(write()).rejects.toThrow(/does not hold the lease/)
  await clock.advance(2400)
  expect([manager.isLeader(), cut, manager.ready()]).toEqual([false, true, true])
  server.put('b', '1')
  await settle()
  expect(manager.cache(things).get({ namespace: 'ns', name: 'b' })).toBeDefined()
  line.down = false
  await clock.advance(3000)
  await write()
  const stopping = manager.stop()
  await clock.advance(30_000)
  await stopping
})

test('after a restart a change goes before the objects that were there', async () => {
  const runs: string[] = []
  const one = {
    ...idle,
    name: 'one-by-one',
    concurrency: 1,
    async reconcile({ key }: { key: { name: string } }) {
      runs.push(key.name)
      await clock.sleep(100)
      return done
    },
  }
  const { manager, server, clock } = managerOf([one])
  for (let index = 0; index < 20; index++) server.put(`there-${index}`, '1')
  await manager.start()
  await settle()
  server.put('urgent', '1')
  await clock.advance(200)
  expect(runs.slice(0, 2)).toEqual(['there-0', 'urgent'])
  await clock.advance(5000)
  expect(new Set(runs).size).toBe(21)
  await manager.stop()
})

test('wiring mistakes are said at once', async () => {
  const { manager } = managerOf([{ ...idle, name: 'one' }])
  expect(() => manager.add({ ...idle, name: 'one' })).toThrow(/two controllers one/)
  await manager.start()
  expect(() => manager.add({ ...idle, name: 'two' })).toThrow(/after the start/)
  await expect(manager.start()).rejects.toThrow(/started twice/)
  const cache = manager.cache(things)
  expect(() => cache.byIndex('none', 'x')).toThrow(/index none does not exist/)
  await manager.stop()
})
