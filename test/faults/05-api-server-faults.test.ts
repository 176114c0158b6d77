// Fault 5: the API server is away, overloaded, broken, slow, or refuses each first write. The controllers outlive it, ask with bounded waits,
// are back within seconds of its return, and have done nothing twice. `SEKISHO_LONG=1` makes the absence 60 s instead of 10 s.
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type ChartRenderer, createChartRenderer } from '../../src/controllers/application/index.ts'
import { installKinds } from '../integration/application-site.ts'
import { type ApplicationWorld, childTypes, image, startController, web, withApplications, worker } from './application-world.ts'
import { conflict, firstOfEach, internalError, type RequestFault, tooManyRequests } from './chaos-proxy/faults.ts'
import { isWrite } from './chaos-proxy/request-facts.ts'
import { forEver, secondsSince, uidsOf, until, withMirror } from './chaos-site.ts'
import { recordOutcome } from './outcome.ts'

const fault = 5
const awaySeconds = process.env['SEKISHO_LONG'] === '1' ? 60 : 10
const names = ['anna', 'bert', 'carl']

let renderer: ChartRenderer
const unhandled: unknown[] = []
beforeAll(async () => {
  process.on('unhandledRejection', reason => unhandled.push(reason))
  await installKinds()
  renderer = createChartRenderer()
  renderer.warmUp()
})
afterAll(() => renderer.stop())

type Outage = { readonly begin: () => Promise<void>; readonly end: () => Promise<void> }

/** Breaks the API server in the middle of three rollouts, for so long, and measures what happens after its return. */
async function throughOutage(
  name: string,
  seconds: number,
  world: ApplicationWorld,
  outage: Outage,
): Promise<{ readonly began: number; readonly ended: number }> {
  const { proxy, direct, namespace } = world
  const mirror = await withMirror(world)
  await startController(world, renderer)
  for (const each of names) await world.apply(each, { processes: [web, worker], image: image(1) })
  for (const each of names) await world.settled(each, 1)
  const uids = await uidsOf(direct, childTypes, namespace)
  const midway = proxy.onRequest(
    { kind: 'reset' },
    { match: ({ verb, resource }) => verb === 'apply' && resource === 'deployments' },
  )
  for (const each of names) await world.apply(each, { processes: [web, worker], image: image(2) })
  await midway.firstUse
  await outage.begin()
  const began = performance.now()
  await mirror.put('news', name)
  await wait(seconds * 1000)
  await outage.end()
  const ended = performance.now()
  const record = (measure: string, value: number, unit: string, atMost: number): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, atMost })
  await mirror.equal()
  const equal = secondsSince(ended)
  await Promise.all(names.map(each => world.settled(each, 2)))
  const rolledOut = secondsSince(ended)
  await record('after its return, time until the copies equal the server', equal, 's', 5)
  await record('after its return, time until three rollouts are complete', rolledOut, 's', 5)
  const now = await uidsOf(direct, childTypes, namespace)
  await record('children made again', uids.filter(uid => !now.includes(uid)).length, 'objects', 0)
  await record('errors that nobody handled', unhandled.length, 'errors', 0)
  return { began, ended }
}

/** Every request is answered so, watches too: the open ones are cut first. */
function refusing(world: ApplicationWorld, answer: RequestFault): Outage {
  let end = (): void => {}
  return {
    async begin() {
      const armed = world.proxy.onRequest(answer, { uses: forEver })
      end = armed.disarm
      await world.proxy.down('reset')
      await world.proxy.up()
    },
    end: async () => end(),
  }
}

test(`the API server is away for ${awaySeconds} s`, async () => {
  const attempts: { readonly at: number; readonly what: string }[] = []
  const world = await withApplications({
    observe: ({ verb, type }) => attempts.push({ at: performance.now(), what: `${verb} ${type.plural}` }),
  })
  const { proxy } = world
  const name = `the API server is away for ${awaySeconds} s`
  const { began, ended } = await throughOutage(name, awaySeconds, world, {
    begin: () => proxy.down('refuse'),
    end: () => proxy.up(),
  })
  const during = attempts.filter(({ at }) => at >= began && at <= ended)
  const times = [began, ...during.filter(({ what }) => what === 'watch applications').map(({ at }) => at), ended]
  const waits = times.slice(1).map((at, index) => (at - (times[index] ?? at)) / 1000)
  expect(times.length).toBeGreaterThan(3)
  const longest = Math.round(Math.max(...waits) * 100) / 100
  await recordOutcome({
    fault,
    case: name,
    measure: 'longest wait between two attempts of a watch',
    value: longest,
    unit: 's',
    atMost: 4.5,
  })
  const rate = Math.round((10 * during.length) / awaySeconds) / 10
  await recordOutcome({ fault, case: name, measure: 'attempts of all watches and keys', value: rate, unit: '1/s', atMost: 20 })
})

async function throttled(): Promise<void> {
  const world = await withApplications()
  const seconds = 2
  const name = `429 with Retry-After ${seconds} to everything for 8 s`
  const { began, ended } = await throughOutage(name, 8, world, refusing(world, { kind: 'refuse', ...tooManyRequests(seconds) }))
  const last = new Map<string, number>()
  let early = 0
  for (const request of world.proxy.log.entries(({ fault: met }) => met === 'refuse', began)) {
    if (request.at > ended) break
    const what = `${request.verb} ${request.path}`
    const before = last.get(what)
    // Two workers may ask for the same path; each waits for itself. Writes and watches have one asker each.
    if (before !== undefined && request.at - before < seconds * 1000 - 50) early += 1
    last.set(what, request.at)
  }
  await recordOutcome({
    fault,
    case: name,
    measure: 'requests repeated before their time',
    value: early,
    unit: 'requests',
    atMost: 0,
  })
}

async function broken(): Promise<void> {
  const world = await withApplications()
  await throughOutage('500 to everything for 8 s', 8, world, refusing(world, { kind: 'refuse', ...internalError }))
}

async function conflicts(): Promise<void> {
  const name = '409 to each first write'
  const world = await withApplications()
  const { proxy, direct, namespace } = world
  await startController(world, renderer)
  const first = firstOfEach(({ verb, path }: { readonly verb: string; readonly path: string }) => `${verb} ${path}`)
  const armed = proxy.onRequest(
    { kind: 'refuse', ...conflict },
    { uses: forEver, match: facts => isWrite(facts) && first(facts) },
  )
  const since = performance.now()
  for (const each of names) await world.apply(each, { processes: [web, worker], image: image(1) })
  await Promise.all(names.map(each => world.settled(each, 1)))
  const uids = await uidsOf(direct, childTypes, namespace)
  for (const each of names) await world.apply(each, { processes: [web, worker], image: image(2) })
  await Promise.all(names.map(each => world.settled(each, 2)))
  const now = await uidsOf(direct, childTypes, namespace)
  expect(armed.used()).toBeGreaterThanOrEqual(names.length * 5)
  await recordOutcome({
    fault,
    case: name,
    measure: 'time until two rollouts of three Applications are complete',
    value: secondsSince(since),
    unit: 's',
    atMost: 20,
  })
  await recordOutcome({
    fault,
    case: name,
    measure: 'children made again',
    value: uids.filter(uid => !now.includes(uid)).length,
    unit: 'objects',
    atMost: 0,
  })
}

/** With a lease, which has to be renewed through the same slow answers. */
async function slow(
  seconds: number,
): Promise<{ readonly world: ApplicationWorld; readonly losses: () => number; readonly end: () => void }> {
  const world = await withApplications()
  const { proxy, namespace } = world
  const leaderElection = { namespace, name: 'slow', identity: 'slow' }
  const { manager } = await startController(world, renderer, { leaderElection })
  await until('the controller to lead', () => manager.isLeader())
  await world.apply('anna', { processes: [web], image: image(1) })
  await world.settled('anna', 1)
  const armed = proxy.onRequest({ kind: 'slow', milliseconds: seconds * 1000 }, { uses: forEver })
  let losses = 0
  let leads = true
  const watching = setInterval(() => {
    if (leads && !manager.isLeader()) losses += 1
    leads = manager.isLeader()
  }, 20)
  onTestFinished(() => clearInterval(watching))
  return { world, losses: () => losses, end: armed.disarm }
}

async function rollsOutWhileSlow(seconds: number): Promise<void> {
  const name = `each answer takes ${seconds} s`
  const { world, losses } = await slow(seconds)
  const { proxy, direct, namespace } = world
  const uids = await uidsOf(direct, childTypes, namespace)
  const since = performance.now()
  await world.apply('anna', { processes: [web], image: image(2) })
  await world.settled('anna', 2)
  const took = secondsSince(since)
  const applies = proxy.log.writes(since).filter(({ resource }) => resource === 'deployments').length
  const now = await uidsOf(direct, childTypes, namespace)
  const record = (measure: string, value: number, unit: string, atMost: number): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, atMost })
  await record('time until a new image runs', took, 's', 10 * seconds)
  await record('times that the leader lost its lease', losses(), 'times', 0)
  await record('writes of the Deployment', applies, 'requests', 1)
  await record('children made again', uids.filter(uid => !now.includes(uid)).length, 'objects', 0)
}

// Each in a world of its own, all at once: what they do most is wait.
test('429, 500, 409 and slow answers', async () => {
  const outcomes = await Promise.allSettled([throttled(), broken(), conflicts(), rollsOutWhileSlow(5)])
  expect(outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))).toEqual([])
})
