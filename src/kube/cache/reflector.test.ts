import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { KubeError } from '../client/errors.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import { reflect } from '../testing/reflect.ts'
import { type Change, createObjectCache } from './object-cache.ts'
import { createReflector } from './reflector.ts'

test('resumes after a drop without listing again', async () => {
  const { server, clock, cache, lists, stop } = reflect()
  await settle()
  server.put('a', '1')
  await settle()
  server.drop()
  server.put('a', '2')
  await clock.advance(1000)
  expect(cache.get({ namespace: 'ns', name: 'a' })?.data).toBe('2')
  expect(lists()).toBe(1)
  await stop()
})

test('a watch resumes from a bookmark when older versions are gone', async () => {
  const { server, clock, lists, stop } = reflect()
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

test('lists again at once when the version is too old, and reports a recreated object as deleted and new', async () => {
  const { server, clock, cache, reflector, lists, stop } = reflect()
  await settle()
  server.put('a', '1')
  await settle()
  server.drop()
  server.remove('a')
  server.put('a', '2')
  server.compact()
  const changes: Change<Thing>[] = []
  cache.subscribe(change => changes.push(change))
  changes.length = 0
  // The broken connection, then the expired version: a second each.
  await clock.advance(2000)
  expect(lists()).toBe(2)
  expect(changes.map(({ old, new: present }) => [old?.metadata.uid, present?.metadata.uid])).toEqual([
    ['uid-1', undefined],
    [undefined, 'uid-2'],
  ])
  expect(reflector.lastError()).toBeUndefined()
  await stop()
})

test('continues after any number of failures with bounded waits, and reports the failure meanwhile', async () => {
  const { clock, cache, reflector, lists, stop } = reflect(server => {
    server.put('a', '1')
    server.failNext(400)
  })
  await clock.advance(60_000)
  expect(cache.synced()).toBe(false)
  expect(reflector.lastError()).toBe('requested failure')
  const tries = lists()
  await clock.advance(60_000)
  // random is 0.5, so each wait has settled at 1.5 s: an outage may end at any time.
  expect(lists() - tries).toBeLessThanOrEqual(41)
  expect(lists() - tries).toBeGreaterThanOrEqual(39)
  await clock.advance(900_000)
  await reflector.synced
  expect(cache.list()).toHaveLength(1)
  await stop()
})

test('a watch that ends at once is retried with waits', async () => {
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
    cache: createObjectCache<Thing>(),
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

test('reports why each watch ended, and lists only when it cannot resume', async () => {
  const { server, clock, lists, ends, reflector, stop } = reflect()
  await settle()
  const error = (status: number, reason: string) => new KubeError(reason, { status, reason })
  const causes = [
    [error(0, 'Silent'), 'silent'],
    [error(0, 'Unreachable'), 'unreachable'],
    [error(500, 'InternalError'), 'refused'],
    [error(0, 'Malformed'), 'unreadable'],
    ['ended', 'ended'],
  ] as const
  for (const [cause] of causes) {
    await clock.advance(2000)
    server.bookmark()
    await clock.advance(10_000)
    server.drop(cause)
    await clock.advance(10_000)
  }
  expect(ends).toEqual(causes.map(([, end]) => end))
  expect(lists()).toBe(1)
  server.put('a', '1')
  await clock.advance(1000)
  server.drop(error(410, 'Expired'))
  await clock.advance(3000)
  expect(lists()).toBe(2)
  expect(reflector.silentSeconds()).toBeLessThan(4)
  await stop()
})

test('after a failure the next watch is brief, so that a kind without changes is observed again; then watches are long again', async () => {
  const { server, clock, briefs, reflector, stop } = reflect()
  await settle()
  await clock.advance(50_000)
  server.drop(new KubeError('no end', { status: 0, reason: 'Silent' }))
  await clock.advance(1000)
  expect(briefs).toEqual([false, true])
  expect(reflector.silentSeconds()).toBeGreaterThan(50)
  await clock.advance(2000)
  server.drop('ended')
  await clock.advance(1000)
  expect(reflector.silentSeconds()).toBeLessThan(2)
  expect(briefs).toEqual([false, true, false])
  await stop()
})

test('attempts begin at least a second apart, whatever the reason', async () => {
  const { server, clock, ends, stop } = reflect()
  await settle()
  for (let cut = 0; cut < 100; cut++) {
    server.bookmark()
    server.drop(new KubeError('gone', { status: 410, reason: 'Expired' }))
    await clock.advance(100)
  }
  expect(ends.length).toBeGreaterThan(5)
  expect(ends.length).toBeLessThanOrEqual(11)
  await stop()
})

test('a Retry-After of the server is respected', async () => {
  const { server, clock, briefs, stop } = reflect()
  await settle()
  await clock.advance(2000)
  server.drop(new KubeError('slow down', { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 20 }))
  await clock.advance(19_000)
  expect(briefs).toEqual([false])
  await clock.advance(2000)
  expect(briefs).toEqual([false, true])
  await stop()
})
