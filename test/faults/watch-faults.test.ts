// Fault 4 of the list in fault-page.ts: everything that can happen to a watch. Afterwards the cache equals the server again,
// after at most one list for each fault, without a storm of connections and without leaked ones.
import { readdir, readlink } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { isLong } from '../fixtures/form.ts'
import { type EventFault, expired, internalError, matching } from '../proxies/chaos-proxy/faults.ts'
import { type ChaosFixture, secondsSince, unlimited, until, withChaos, withMirror } from './fixtures/chaos-fixture.ts'
import { expectAllFulfilled } from './fixtures/concurrent-cases.ts'
import { recordOutcome } from './outcome.ts'

const fault = 4

async function recordAfter(fixture: ChaosFixture, name: string, since: number): Promise<void> {
  const recovery = { fault, case: name, measure: 'time until the copy equals the server', unit: 's' }
  await recordOutcome({ ...recovery, value: secondsSince(since), atMost: 5 })
  const lists = fixture.proxy.log.lists('configmaps', since).length
  await recordOutcome({ fault, case: name, measure: 'lists', value: lists, unit: 'requests', atMost: 1 })
}

async function spoiled(name: string, how: EventFault): Promise<void> {
  const fixture = await withChaos()
  const mirror = await withMirror(fixture)
  await mirror.put('a', '1')
  await mirror.equal()
  const armed = fixture.proxy.onEvent(how, { match: matching({ name: 'a' }) })
  const since = performance.now()
  await mirror.put('a', '2')
  await mirror.put('b', '1')
  await mirror.equal()
  expect(armed.used(), name).toBe(1)
  await recordAfter(fixture, name, since)
}

async function tooOldAtOpening(): Promise<void> {
  const fixture = await withChaos()
  const mirror = await withMirror(fixture)
  await mirror.put('a', '1')
  await mirror.equal()
  fixture.proxy.onEvent({ kind: 'close' }, { match: matching({ name: 'a' }) })
  const armed = fixture.proxy.onRequest({ kind: 'refuse', ...expired }, { match: matching({ verb: 'watch' }) })
  const since = performance.now()
  await mirror.put('a', '2')
  await mirror.equal()
  expect(armed.used()).toBe(1)
  await recordAfter(fixture, '410 when a watch is opened', since)
}

/** The watch is resumed from the last bookmark. */
async function bookmarksAlone(): Promise<void> {
  const fixture = await withChaos()
  const short = fixture.proxy.onRequest({ kind: 'shorten', seconds: 4 }, { match: matching({ verb: 'watch' }) })
  const mirror = await withMirror(fixture)
  await short.firstUse
  const since = performance.now()
  // Advances the server's version without an event for this watch.
  await mirror.touchOther()
  await until('the second watch', () => fixture.proxy.log.watches('configmaps').length === 2)
  const bookmark = fixture.proxy.events().findLast(({ type }) => type === 'BOOKMARK')
  expect(bookmark).toBeDefined()
  const [first, second] = fixture.proxy.log.watches('configmaps')
  expect(second?.resourceVersion).toBe(bookmark?.resourceVersion)
  expect(second?.resourceVersion).not.toBe(first?.resourceVersion)
  const lists = fixture.proxy.log.lists('configmaps', since).length
  const name = 'bookmarks alone, then closed'
  await recordOutcome({ fault, case: name, measure: 'lists', value: lists, unit: 'requests', atMost: 0 })
  await mirror.put('a', '1')
  await mirror.equal()
}

// Each case has its own environment; they run concurrently because they mostly wait.
test('the cache equals the server again after each watch fault', async () => {
  await expectAllFulfilled([
    spoiled('410 in mid-stream', { kind: 'error', ...expired }),
    spoiled('an ERROR event of status 500', { kind: 'error', ...internalError }),
    spoiled('a truncated line', { kind: 'truncate' }),
    spoiled('the server closes the watch', { kind: 'close' }),
    spoiled('the connection is reset', { kind: 'reset' }),
    tooOldAtOpening(),
    bookmarksAlone(),
  ])
})

test('1,000 reconnects leak no connection', async () => {
  const fixture = await withChaos()
  // Delays are shortened to keep the test short; connections are real.
  const sleep: Clock['sleep'] = (milliseconds, signal) => systemClock.sleep(milliseconds / 1000, signal)
  const mirror = await withMirror(fixture, { clock: { ...systemClock, sleep } })
  await mirror.put('a', 'first')
  await mirror.equal()
  const before = await openSockets()
  const kinds: EventFault[] = [
    { kind: 'close' },
    { kind: 'truncate' },
    { kind: 'reset' },
    { kind: 'error', ...internalError },
    { kind: 'error', ...expired },
  ]
  const opened = (): number => fixture.proxy.log.watches('configmaps').length
  const target = opened() + 1000
  for (const [index, spoiled] of kinds.entries())
    fixture.proxy.onEvent(spoiled, { uses: unlimited, match: () => opened() < target && opened() % kinds.length === index })
  let most = 0
  for (let n = 0; opened() < target; n++) {
    await mirror.put('a', String(n))
    most = Math.max(most, fixture.proxy.openSockets())
  }
  await mirror.equal()
  const left = (await openSockets()) - before
  const name = '1,000 reconnects after mixed faults'
  await recordOutcome({ fault, case: name, measure: 'connections open at once', value: most, unit: 'connections', atMost: 4 })
  await recordOutcome({ fault, case: name, measure: 'sockets left over', value: left, unit: 'sockets', atMost: 4 })
})

/** Number of sockets of this process: both ends of what the test opens. */
async function openSockets(): Promise<number> {
  const folder = '/proc/self/fd'
  const targets = await Promise.all((await readdir(folder)).map(name => readlink(`${folder}/${name}`).catch(() => '')))
  return targets.filter(target => target.startsWith('socket:')).length
}

async function hangsUp(): Promise<void> {
  const fixture = await withChaos()
  const mirror = await withMirror(fixture)
  const armed = fixture.proxy.onEvent({ kind: 'close-after' }, { uses: unlimited })
  const since = performance.now()
  for (let n = 0; secondsSince(since) < 10; n++) {
    await mirror.put('churn', String(n))
    await wait(100)
  }
  armed.disarm()
  await mirror.equal()
  const watches = fixture.proxy.log.watches('configmaps', since)
  // The first watch was not a reconnect.
  const rate = Math.round((100 * (watches.length - 1)) / secondsSince(since)) / 100
  const name = 'the server hangs up after each of 10 events a second'
  expect(armed.used()).toBeGreaterThan(3)
  await recordOutcome({ fault, case: name, measure: 'reconnects', value: rate, unit: '1/s', atMost: 1 })
}

async function silence(name: string, begin: (fixture: ChaosFixture) => void): Promise<void> {
  const fixture = await withChaos()
  const mirror = await withMirror(fixture)
  await mirror.put('a', '1')
  await mirror.equal()
  begin(fixture)
  const since = performance.now()
  await mirror.put('a', '2')
  await mirror.equal()
  const measure = 'time until the copy equals the server'
  await recordOutcome({ fault, case: name, measure, value: secondsSince(since), unit: 's', atMost: 60 })
  const lists = fixture.proxy.log.lists('configmaps', since).length
  await recordOutcome({ fault, case: name, measure: 'lists', value: lists, unit: 'requests', atMost: 1 })
}

// With the product's time limits; concurrent, because they take nearly a minute, so only in the long form.
test.runIf(isLong('faults'))(
  'a server that closes watches after each event is not flooded with reconnects; silent watches are detected',
  async () => {
    await expectAllFulfilled([
      hangsUp(),
      silence('a watch falls silent, without an end', ({ proxy }) => {
        proxy.onEvent({ kind: 'stall' }, { match: matching({ name: 'a' }) })
      }),
      silence('all connections die without a word', ({ proxy }) => proxy.deaden()),
    ])
  },
)
