import { expect, test } from 'vitest'
import { type Lease, leases } from '../api/builtin/index.ts'
import { createFakeClock, settle } from '../lib/testing/fake-clock.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import type { KubeClient } from './client/client.ts'
import { KubeError } from './client/errors.ts'
import { type ControllerDefinition, done, watches } from './controller/controller.ts'
import { createManager, type ManagerDeps } from './manager.ts'
import { createFakeServer } from './testing/fake-server.ts'
import { things } from './testing/objects.ts'

function managerOf(
  controllers: readonly ControllerDefinition[],
  extra: Partial<ManagerDeps> = {},
  connection: object = {},
  record: (what: string) => void = () => {},
) {
  const server = createFakeServer()
  const clock = createFakeClock()
  let lists = 0
  const refuse = async (): Promise<never> => {
    throw new Error('no write is expected')
  }
  // The fake server has one kind; methods that these tests do not call reject.
  const client = {
    get: refuse,
    list: refuse,
    create: refuse,
    apply: refuse,
    applyStatus: refuse,
    mergePatch: async () => undefined,
    delete: refuse,
    podLogs: refuse,
    podLogStream: refuse,
    snapshot: () => {
      lists += 1
      record('list')
      return server.snapshot()
    },
    watch: (_: unknown, options: { resourceVersion: string; signal: AbortSignal }) => {
      record('watch')
      options.signal.addEventListener('abort', () => record('watch closed'))
      return server.watch(options.resourceVersion, options.signal)
    },
    ...connection,
  } as unknown as KubeClient
  const manager = createManager({ client, log: silentLog, clock, random: () => 0.5, ...extra })
  for (const controller of controllers) manager.add(controller)
  return { manager, server, clock, lists: () => lists }
}

const idle = { for: things, resyncMilliseconds: 0, reconcile: async () => done } as const

test('one reflector serves every reader of a kind, and a cache created later fills on its own', async () => {
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

test('a stop lets reconciles finish, starts no more, and then refuses writes', async () => {
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

test('reconciles that do not end are aborted, then ignored, within thirty seconds', async () => {
  let abortedAt: number | undefined
  const { manager, server, clock } = managerOf([
    {
      ...idle,
      name: 'hangs',
      reconcile: ({ signal }) => {
        signal.addEventListener('abort', () => {
          abortedAt = clock.monotonic()
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
  expect([abortedAt, stopped]).toEqual([undefined, false])
  await clock.advance(12_999)
  expect([abortedAt, stopped]).toEqual([18_000, true])
})

test('a stop during the first lists ends the start, and nothing runs', async () => {
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

/** The Lease on the server, and a connection to it; `down` breaks that connection. */
function electionOf(recorded: (what: string) => void) {
  let lease: Lease | undefined
  let version = 0
  const connection = { down: false }
  const answer = (spec: Lease['spec']): Lease => {
    version += 1
    const metadata = { namespace: 'ns', name: 'sekisho', uid: 'uid', resourceVersion: String(version) }
    lease = { apiVersion: leases.apiVersion, kind: leases.kind, metadata, spec: spec ?? {} }
    recorded(lease.spec?.holderIdentity ? 'lease held' : 'lease released')
    return lease
  }
  const reach = (): void => {
    if (connection.down) throw new KubeError('no connection', { status: 0, reason: 'Unreachable' })
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
  return { client, connection, election: { namespace: 'ns', name: 'sekisho', identity: 'unit' } }
}

test('start: lists, then the lease, then work; stop: work, then the lease, then the watches', async () => {
  const recorded: string[] = []
  const record = (what: string): void => {
    if (recorded.at(-1) !== what) recorded.push(what)
  }
  const { client, election } = electionOf(record)
  const slow = {
    ...idle,
    name: 'slow',
    async reconcile() {
      record('work begins')
      await clock.sleep(5000)
      record('work ends')
      return done
    },
  }
  const { manager, server, clock } = managerOf([slow], { leaderElection: election }, client, record)
  server.put('a', '1')
  await manager.start()
  await clock.advance(100)
  expect(recorded).toEqual(['list', 'watch', 'lease held', 'work begins'])
  const stopping = manager.stop()
  await clock.advance(6000)
  await stopping
  expect(recorded.filter(what => what !== 'lease held')).toEqual([
    'list',
    'watch',
    'work begins',
    'work ends',
    'lease released',
    'watch closed',
  ])
  expect(clock.sleepers()).toBe(0)
})

test('a manager that loses the lease stops writing and reconciling, and continues to serve its cache', async () => {
  let cut = false
  const { client, connection, election } = electionOf(() => {})
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
  connection.down = true
  // 10 s after the last renewal at the latest; others may take over after 15 s.
  await clock.advance(10_001)
  await expect(write()).rejects.toThrow(/does not hold the lease/)
  await clock.advance(2400)
  expect([manager.isLeader(), cut, manager.ready()]).toEqual([false, true, true])
  server.put('b', '1')
  await settle()
  expect(manager.cache(things).get({ namespace: 'ns', name: 'b' })).toBeDefined()
  connection.down = false
  await clock.advance(3000)
  await write()
  const stopping = manager.stop()
  await clock.advance(30_000)
  await stopping
})

test('after a restart, changes go before existing objects', async () => {
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

test('wiring mistakes throw at once', async () => {
  const { manager } = managerOf([{ ...idle, name: 'one' }])
  expect(() => manager.add({ ...idle, name: 'one' })).toThrow(/two controllers one/)
  await manager.start()
  expect(() => manager.add({ ...idle, name: 'two' })).toThrow(/after the start/)
  await expect(manager.start()).rejects.toThrow(/started twice/)
  const cache = manager.cache(things)
  expect(() => cache.byIndex('none', 'x')).toThrow(/index none does not exist/)
  await manager.stop()
})
