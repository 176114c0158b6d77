import { expect, test } from 'vitest'
import { silentLog } from '../lib/log.ts'
import type { KubeClient } from './client.ts'
import { type ControllerDefinition, done, watches } from './controller.ts'
import { createManager, type ManagerDeps } from './manager.ts'
import { createFakeClock, settle } from './testing/fake-clock.ts'
import { createFakeServer } from './testing/fake-server.ts'
import { things } from './testing/objects.ts'

function managerOf(controllers: readonly ControllerDefinition[], extra: Partial<ManagerDeps> = {}) {
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
      return server.snapshot()
    },
    watch: (_: unknown, options: { resourceVersion: string; signal: AbortSignal }) =>
      server.watch(options.resourceVersion, options.signal),
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

test('wiring mistakes are said at once', async () => {
  const { manager } = managerOf([{ ...idle, name: 'one' }])
  expect(() => manager.add({ ...idle, name: 'one' })).toThrow(/two controllers one/)
  await manager.start()
  expect(() => manager.add({ ...idle, name: 'two' })).toThrow(/after the start/)
  await expect(manager.start()).rejects.toThrow(/started twice/)
  const cache = manager.cache(things)
  expect(() => cache.byIndex('none', 'x')).toThrow(/no index none/)
  await manager.stop()
})
