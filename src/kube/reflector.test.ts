import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silentLog } from '../lib/log.ts'
import { createReflector } from './reflector.ts'
import { type Change, createObjectStore } from './store.ts'
import { createFakeClock, settle } from './testing/fake-clock.ts'
import { createFakeServer, type FakeServer } from './testing/fake-server.ts'
import { type Thing, thing, things } from './testing/objects.ts'

function start(prepare: (server: FakeServer) => void = () => {}) {
  const server = createFakeServer()
  prepare(server)
  const clock = createFakeClock()
  const store = createObjectStore<Thing>()
  const stop = new AbortController()
  let lists = 0
  const reflector = createReflector<Thing>({
    // The fake knows one kind, whose type the reflector asks for.
    client: {
      snapshot: (() => {
        lists += 1
        return server.snapshot()
      }) as never,
      watch: ((_: unknown, options: { resourceVersion: string; signal: AbortSignal }) =>
        server.watch(options.resourceVersion, options.signal)) as never,
    },
    type: things,
    scope: {},
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
  })
  const ended = reflector.run(stop.signal)
  return {
    server,
    clock,
    store,
    reflector,
    lists: () => lists,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

const name = fc.constantFrom('a', 'b', 'c')
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, data: fc.string({ maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('swap' as const), name, data: fc.string({ maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'compact', 'bookmark', 'fail', 'tick') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
)

/** What a listener that only sees changes believes to exist; answers with what cannot be. (A throw would only upset the reflector.) */
function believe(seen: Map<string, Thing>, { old, new: present }: Change<Thing>): string | undefined {
  if (old !== undefined) {
    if (seen.get(old.metadata.name) !== old) return `${old.metadata.name}: the old state is not the one that was told last`
    seen.delete(old.metadata.name)
  }
  if (present === undefined) return undefined
  if (old !== undefined && old.metadata.uid !== present.metadata.uid) return `${old.metadata.name}: one change, two objects`
  if (seen.has(present.metadata.name)) return `${present.metadata.name}: appeared while it was there`
  seen.set(present.metadata.name, present)
  return undefined
}

test('store and listeners equal the server after any order of events, drops, failures and expired versions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async steps => {
      const { server, clock, store, stop } = start()
      const seen = new Map<string, Thing>()
      store.addIndex('data', object => [object.data ?? ''])
      const wrong: (string | undefined)[] = []
      store.subscribe(change => wrong.push(believe(seen, change)))
      for (const each of steps) {
        if (each.do === 'put') server.put(each.name, each.data)
        else if (each.do === 'remove') server.remove(each.name)
        else if (each.do === 'drop') server.drop()
        else if (each.do === 'swap') {
          // Deleted and made again while nobody could watch.
          server.drop()
          server.remove(each.name)
          server.put(each.name, each.data)
          server.compact()
        } else if (each.do === 'bookmark') server.bookmark()
        else if (each.do === 'fail') server.failNext(2)
        else if (each.do === 'tick') await clock.advance(20_000)
        else if (each.do === 'settle') await settle()
        else {
          server.compact()
          server.drop()
        }
      }
      await clock.advance(200_000)
      const sorted = (objects: readonly Thing[]) => [...objects].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      expect(sorted(store.list())).toEqual(sorted(server.objects()))
      expect(sorted([...seen.values()])).toEqual(sorted(server.objects()))
      expect(wrong.filter(Boolean)).toEqual([])
      const values = new Set(steps.map(each => ('data' in each ? each.data : '')))
      for (const value of values)
        expect(sorted(store.byIndex('data', value))).toEqual(sorted(server.objects().filter(({ data }) => data === value)))
      for (const object of store.list()) expect(Object.isFrozen(object.metadata)).toBe(true)
      await stop()
    }),
    { numRuns: 150 },
  )
})

test('resumes after a drop without listing again', async () => {
  const { server, clock, store, lists, stop } = start()
  await settle()
  server.put('a', '1')
  await settle()
  server.drop()
  server.put('a', '2')
  await clock.advance(1000)
  expect(store.get({ namespace: 'ns', name: 'a' })?.data).toBe('2')
  expect(lists()).toBe(1)
  await stop()
})

test('a bookmark is a place to resume from when older versions are gone', async () => {
  const { server, clock, lists, stop } = start()
  await settle()
  server.put('a', '1')
  server.bookmark()
  await settle()
  server.compact()
  server.drop()
  await clock.advance(1000)
  expect(lists()).toBe(1)
  await stop()
})

test('lists again at once when the version is too old, and tells delete and new for a name that changed its uid', async () => {
  const { server, clock, store, reflector, lists, stop } = start()
  await settle()
  server.put('a', '1')
  await settle()
  server.drop()
  server.remove('a')
  server.put('a', '2')
  server.compact()
  const changes: Change<Thing>[] = []
  store.subscribe(change => changes.push(change))
  changes.length = 0
  await clock.advance(1000)
  expect(lists()).toBe(2)
  expect(changes.map(({ old, new: present }) => [old?.metadata.uid, present?.metadata.uid])).toEqual([
    ['uid-1', undefined],
    [undefined, 'uid-2'],
  ])
  expect(reflector.problem()).toBeUndefined()
  await stop()
})

test('goes on after any number of failures, with bounded waits, and says what is wrong meanwhile', async () => {
  const { clock, store, reflector, lists, stop } = start(server => {
    server.put('a', '1')
    server.failNext(40)
  })
  await clock.advance(60_000)
  expect(store.synced()).toBe(false)
  expect(reflector.problem()).toBe('told to fail')
  const tries = lists()
  await clock.advance(60_000)
  // random is 0.5, so each wait has settled at 15 s.
  expect(lists() - tries).toBeLessThanOrEqual(5)
  expect(lists() - tries).toBeGreaterThanOrEqual(3)
  await clock.advance(600_000)
  await reflector.synced
  expect(store.list()).toHaveLength(1)
  await stop()
})

test('a watch that hangs up at once is waited for, not stormed', async () => {
  const clock = createFakeClock()
  const stop = new AbortController()
  let watches = 0
  const reflector = createReflector<Thing>({
    client: {
      snapshot: (async () => ({ items: [thing('a')], resourceVersion: '5' })) as never,
      watch: (() => {
        watches += 1
        return Readable.from([])
      }) as never,
    },
    type: things,
    scope: {},
    store: createObjectStore<Thing>(),
    clock,
    random: () => 0.99,
    log: silentLog,
  })
  const ended = reflector.run(stop.signal)
  await clock.advance(60_000)
  expect(watches).toBeGreaterThan(3)
  expect(watches).toBeLessThan(12)
  stop.abort()
  await ended
})
