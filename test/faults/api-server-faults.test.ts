// Fault 5 of the list in fault-page.ts: the API server is unavailable, overloaded, broken or slow, or refuses each first write.
// The controllers survive, retry with bounded delays, recover within seconds, and repeat no effect. `SEKISHO_LONG=1`: 60 s of
// outage and answers 5 s late.

import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { deployments } from '../../src/api/builtin/index.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { image, withCharts } from '../fixtures/application-controller.ts'
import { restrictedTo, withFixture } from '../fixtures/application-fixture.ts'
import { isLong } from '../fixtures/form.ts'
import { image as builtImage, startRemoteSyncFixture, succeeded } from '../fixtures/remote-sync-fixture.ts'
import { conflict, firstOfEach, internalError, type RequestFault, tooManyRequests } from '../proxies/chaos-proxy/faults.ts'
import { isWrite } from '../proxies/chaos-proxy/request-facts.ts'
import {
  type ApplicationEnvironment,
  childTypes,
  startController,
  web,
  withApplications,
  worker,
} from './fixtures/application-controller-fixture.ts'
import { secondsSince, uidsOf, unlimited, until, withClientOf, withMirror, withProxy } from './fixtures/chaos-fixture.ts'
import { expectAllFulfilled } from './fixtures/concurrent-cases.ts'
import { recordOutcome } from './outcome.ts'

const fault = 5
const awaySeconds = isLong('faults') ? 60 : 10
const slowSeconds = isLong('faults') ? 5 : 2
const names = ['anna', 'bert', 'carl']

const renderer = withCharts()
const unhandled: unknown[] = []
beforeAll(async () => {
  process.on('unhandledRejection', reason => unhandled.push(reason))
})

type Outage = { readonly begin: () => Promise<void>; readonly end: () => Promise<void> }

/** All Deployments of the Application have the image. */
async function wantsImage({ direct, namespace }: ApplicationEnvironment, name: string, n: number): Promise<boolean> {
  const found = await Promise.all(
    [web, worker].map(process => direct.get(deployments, { namespace, name: `${name}-${process.name}` })),
  )
  return found.every(deployment => deployment?.spec?.template.spec?.containers[0]?.image === image(n))
}

/** Breaks the API server in the middle of three rollouts for `seconds`, and measures the recovery. */
async function throughOutage(
  name: string,
  seconds: number,
  environment: ApplicationEnvironment,
  outage: Outage,
): Promise<{ readonly began: number; readonly ended: number }> {
  const { proxy, direct, namespace } = environment
  const mirror = await withMirror(environment)
  await startController(environment, renderer)
  for (const each of names) await environment.apply(each, { processes: [web, worker], image: image(1) })
  for (const each of names) await environment.settled(each, 1)
  const uids = await uidsOf(direct, childTypes, namespace)
  const midway = proxy.onRequest(
    { kind: 'reset' },
    { match: ({ verb, resource }) => verb === 'apply' && resource === 'deployments' },
  )
  for (const each of names) await environment.apply(each, { processes: [web, worker], image: image(2) })
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
  await Promise.all(names.map(each => until(`${each} to be rolled out`, () => wantsImage(environment, each, 2))))
  const wanted = secondsSince(ended)
  await record('after its return, time until the copies equal the server', equal, 's', 5)
  await record('after its return, time until three interrupted rollouts have gone on', wanted, 's', 5)
  await Promise.all(names.map(each => environment.settled(each, 2)))
  const now = await uidsOf(direct, childTypes, namespace)
  await record('children made again', uids.filter(uid => !now.includes(uid)).length, 'objects', 0)
  await record('errors that nobody handled', unhandled.length, 'errors', 0)
  return { began, ended }
}

/** Answers every request in this way, watches too: open watches are cut first. */
function refusing(environment: ApplicationEnvironment, answer: RequestFault): Outage {
  let end = (): void => {}
  return {
    async begin() {
      const armed = environment.proxy.onRequest(answer, { uses: unlimited })
      end = armed.disarm
      await environment.proxy.down('reset')
      await environment.proxy.up()
    },
    end: async () => end(),
  }
}

async function away(): Promise<void> {
  const attempts: { readonly at: number; readonly what: string }[] = []
  const environment = await withApplications({
    observe: ({ verb, type }) => attempts.push({ at: performance.now(), what: `${verb} ${type.plural}` }),
  })
  const { proxy } = environment
  const name = `the API server is away for ${awaySeconds} s`
  const { began, ended } = await throughOutage(name, awaySeconds, environment, {
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
    atMost: 4,
  })
  const watches = during.filter(({ what }) => what.startsWith('watch '))
  const perWatch = watches.length / new Set(watches.map(({ what }) => what)).size / awaySeconds
  const rate = Math.round(10 * perWatch) / 10
  await recordOutcome({ fault, case: name, measure: 'attempts of a watch on average', value: rate, unit: '1/s', atMost: 2 })
}

async function throttled(): Promise<void> {
  const environment = await withApplications()
  const seconds = 2
  const name = `429 with Retry-After ${seconds} to everything for 8 s`
  const { began, ended } = await throughOutage(
    name,
    8,
    environment,
    refusing(environment, { kind: 'refuse', ...tooManyRequests(seconds) }),
  )
  const last = new Map<string, number>()
  let early = 0
  for (const request of environment.proxy.log.entries(({ fault: met }) => met === 'refuse', began)) {
    if (request.at > ended) break
    const what = `${request.verb} ${request.path} ${request.selector}`
    const before = last.get(what)
    // Two workers may request the same path; each waits on its own. Writes and watches have one requester each.
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
  const environment = await withApplications()
  await throughOutage('500 to everything for 8 s', 8, environment, refusing(environment, { kind: 'refuse', ...internalError }))
}

async function conflicts(): Promise<void> {
  const name = '409 to each first write'
  const environment = await withApplications()
  const { proxy, direct, namespace } = environment
  await startController(environment, renderer)
  const first = firstOfEach(({ verb, path }: { readonly verb: string; readonly path: string }) => `${verb} ${path}`)
  const armed = proxy.onRequest(
    { kind: 'refuse', ...conflict },
    { uses: unlimited, match: facts => isWrite(facts) && first(facts) },
  )
  const since = performance.now()
  for (const each of names) await environment.apply(each, { processes: [web, worker], image: image(1) })
  await Promise.all(names.map(each => environment.settled(each, 1)))
  const uids = await uidsOf(direct, childTypes, namespace)
  for (const each of names) await environment.apply(each, { processes: [web, worker], image: image(2) })
  await Promise.all(names.map(each => environment.settled(each, 2)))
  const now = await uidsOf(direct, childTypes, namespace)
  expect(armed.used()).toBeGreaterThanOrEqual(names.length * 5)
  await recordOutcome({
    fault,
    case: name,
    measure: 'time until two rollouts of three Applications are complete',
    value: secondsSince(since),
    unit: 's',
    atMost: 30,
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

/** The share of time, in percent, in which the condition held since this call, sampled every 10 ms. */
function sampled(holds: () => boolean): () => number {
  let samples = 0
  let held = 0
  const sampling = setInterval(() => {
    samples += 1
    if (holds()) held += 1
  }, 10)
  onTestFinished(() => clearInterval(sampling))
  return () => Math.round((1000 * held) / samples) / 10
}

/** With leader election: the lease has to be renewed through the same slow answers. */
async function rollsOutWhileSlow(seconds: number): Promise<void> {
  const name = `each answer takes ${seconds} s`
  const environment = await withApplications()
  const { proxy, direct, namespace } = environment
  const leaderElection = { namespace, name: 'slow', identity: 'slow' }
  const { manager } = await startController(environment, renderer, { leaderElection })
  await until('the controller to lead', () => manager.isLeader())
  await environment.apply('anna', { processes: [web], image: image(1) })
  await environment.settled('anna', 1)
  const uids = await uidsOf(direct, childTypes, namespace)
  const armed = proxy.onRequest({ kind: 'slow', milliseconds: seconds * 1000 }, { uses: unlimited })
  const led = sampled(manager.isLeader)
  const since = performance.now()
  await environment.apply('anna', { processes: [web], image: image(2) })
  await environment.settled('anna', 2)
  const took = secondsSince(since)
  const held = led()
  armed.disarm()
  const requests = proxy.log
    .entries(undefined, since)
    .map(({ at, verb, resource, subresource = '' }) =>
      `${((at - since) / 1000).toFixed(1)} s ${verb} ${resource} ${subresource}`.trim(),
    )
  const applies = proxy.log.writes(since).filter(({ resource }) => resource === 'deployments').length
  const now = await uidsOf(direct, childTypes, namespace)
  const record = (measure: string, value: number, unit: string, bound: { atMost: number } | { atLeast: number }): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, ...bound }, requests.join(', '))
  await record('time until a new image runs', took, 's', { atMost: 10 * seconds })
  await record('time that the leader held its lease', held, '%', { atLeast: 90 })
  await record('writes of the Deployment', applies, 'requests', { atMost: 1 })
  await record('children made again', uids.filter(uid => !now.includes(uid)).length, 'objects', { atMost: 0 })
}

/** A push whose Build is created just before the API server goes away, so that the controller never gets the answer. */
async function buildsOnce(): Promise<void> {
  const name = 'the API server is away for 8 s as a commit is built'
  const plain = await withFixture()
  const proxy = await withProxy()
  const fixture = { ...plain, controllersClient: restrictedTo(withClientOf(proxy), plain.namespace) }
  const environment = await startRemoteSyncFixture(renderer, { fixture })
  const { client, namespace, github } = environment
  const runsImage = (n: number): Promise<true> =>
    until(`image ${n}`, async () => (await client.get(application, { namespace, name: 'shop' }))?.spec.image === builtImage(n))
  const first = await github.push('one')
  await environment.applyApplication()
  await environment.applyRemoteSync()
  await environment.approve()
  await environment.endBuild(await environment.buildOf(first), succeeded(1))
  await runsImage(1)
  const second = await github.push('two')
  const [branchRequests, tokens] = [github.branchRequests(), environment.tokenRequests()]
  const lost = proxy.onRequest({ kind: 'lose-answer' }, { match: facts => isWrite(facts) && facts.resource === 'builds' })
  await environment.wake()
  await lost.firstUse
  await proxy.down('refuse')
  await wait(8000)
  await proxy.up()
  const since = performance.now()
  await environment.endBuild(await environment.buildOf(second), succeeded(2))
  await runsImage(2)
  const took = secondsSince(since)
  const builds = (await client.list(kpackBuilds, { namespace })).length
  const record = (measure: string, value: number, unit: string, atMost: number): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, atMost })
  await record('after its return, time until the built image is wanted', took, 's', 5)
  await record('Builds of the commit', builds - 1, 'objects', 1)
  await record('questions to GitHub about the branch', github.branchRequests() - branchRequests, 'requests', 2)
  await record('tokens asked for', environment.tokenRequests() - tokens, 'tokens', 2)
}

// Each case has its own environment; they run concurrently because they mostly wait.
test('controllers survive outages, 429, 500, 409 and slow answers of the API server', async () => {
  await expectAllFulfilled([away(), throttled(), broken(), conflicts(), buildsOnce(), rollsOutWhileSlow(slowSeconds)])
})
