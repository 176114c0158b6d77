// Fault 2 of the list in fault-page.ts: events that are lost, late or duplicated. Each event of a whole rollout is lost once,
// each for a separate Application; all reach the state that they would have reached anyway, at the latest when the caches are
// listed again.
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import type { KubeObject } from '../../src/api/resource.ts'
import { applicationSelector } from '../../src/controllers/application/caches.ts'
import type { Manager } from '../../src/kube/manager.ts'
import { image, withCharts } from '../fixtures/application-controller.ts'
import type { EventFacts } from '../proxies/chaos-proxy/faults.ts'
import { matching } from '../proxies/chaos-proxy/faults.ts'
import {
  type ApplicationEnvironment,
  childTypes,
  startController,
  stateOf,
  web,
  withApplications,
  worker,
} from './fixtures/application-controller-fixture.ts'
import { secondsSince, uidsOf, unlimited, until } from './fixtures/chaos-fixture.ts'
import { recordOutcome } from './outcome.ts'

const fault = 2
const relistMilliseconds = 5000
const watchSeconds = 2

const renderer = withCharts()

/** Two rollouts and the removal of a process: objects are created, changed and deleted. */
async function runRollouts(environment: ApplicationEnvironment, name: string, between: () => Promise<unknown>): Promise<void> {
  await environment.apply(name, { processes: [web, worker], image: image(1) })
  await between()
  await environment.apply(name, { processes: [web], image: image(2) })
}

/** `deployments web MODIFIED 2`: identifies the same event for every Application, whatever its name. */
function eventName(application: string, event: EventFacts, count: number): string {
  return `${event.watch.resource} ${event.name.slice(application.length)} ${event.type} ${count}`
}

function ofApplication(application: string): (event: EventFacts) => boolean {
  return ({ name }) => name === application || name.startsWith(`${application}-`)
}

test('an Application reaches the same state although any one event of two rollouts is lost', async () => {
  const environment = await withApplications()
  const { proxy } = environment
  proxy.onRequest({ kind: 'shorten', seconds: watchSeconds }, { uses: unlimited, match: matching({ verb: 'watch' }) })
  const { manager } = await startController(environment, renderer, { relistMilliseconds })

  await runRollouts(environment, 'model', () => environment.settled('model', 1))
  await environment.settled('model', 2)
  const model = await stateOf(environment, 'model')
  const counts = new Map<string, number>()
  const names = proxy
    .events()
    .filter(ofApplication('model'))
    .map(event => {
      const key = `${event.watch.resource} ${event.name} ${event.type}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return eventName('model', event, counts.get(key) ?? 0)
    })
  expect(names.length).toBeGreaterThan(15)

  const dropped = new Map<string, EventFacts>()
  const losses = names.map((lost, index) => {
    const application = `loss${String(index).padStart(2, '0')}`
    const seen = new Map<string, number>()
    const armed = proxy.onEvent(
      { kind: 'drop' },
      {
        match: event => {
          if (!ofApplication(application)(event)) return false
          const key = `${event.watch.resource} ${event.name} ${event.type}`
          seen.set(key, (seen.get(key) ?? 0) + 1)
          const hit = eventName(application, event, seen.get(key) ?? 0) === lost
          if (hit) dropped.set(lost, event)
          return hit
        },
      },
    )
    return { application, lost, armed }
  })
  const delays = losses.map(({ armed, lost }) =>
    armed.firstUse.then(() => secondsUntilKnown(environment, manager, dropped.get(lost))),
  )
  await Promise.all(
    losses.map(async ({ application }) => {
      await runRollouts(environment, application, () => environment.settled(application, 1))
      await environment.settled(application, 2)
    }),
  )
  const used = losses.filter(({ armed }) => armed.used() === 1).length
  const like = await Promise.all(
    losses.map(({ application }) =>
      until(`${application} to be like the model`, async () => (await stateOf(environment, application)) === model).catch(
        () => false,
      ),
    ),
  )
  const same = like.filter(Boolean).length
  const what = 'each event of two rollouts lost once'
  await recordOutcome({
    fault,
    case: what,
    measure: 'events lost',
    value: used,
    unit: 'events',
    atLeast: Math.ceil(names.length * 0.8),
  })
  await recordOutcome({
    fault,
    case: what,
    measure: 'same final state',
    value: (100 * same) / losses.length,
    unit: '%',
    atLeast: 100,
  })
  // A list is due after 5 s and made when the current watch has ended; a retry takes up to a second.
  const longest = Math.max(...(await Promise.all(delays.filter((_, index) => losses[index]?.armed.used() === 1))))
  await recordOutcome({
    fault,
    case: what,
    measure: 'longest time until the caches know it all the same, with a list each 5 s',
    value: longest,
    unit: 's',
    atMost: relistMilliseconds / 1000 + watchSeconds + 2,
  })
})

/** Seconds until the controller's cache is as new as the event, or agrees with the server that the object does not exist. */
async function secondsUntilKnown(
  { direct }: ApplicationEnvironment,
  manager: Manager,
  event: EventFacts | undefined,
): Promise<number> {
  const since = performance.now()
  const type = [application, release, ...childTypes].find(({ plural }) => plural === event?.watch.resource)
  if (event === undefined || type === undefined) throw new Error('an event of an unexpected kind was lost')
  const { name, namespace } = event
  const key = namespace === undefined ? { name } : { name, namespace }
  const cache = manager.cache<KubeObject>(type, type.plural === application.plural ? {} : { labelSelector: applicationSelector })
  await until(`the lost ${event.type} of ${name} to be known`, async () => {
    const held = cache.get(key)
    if (held === undefined) return (await direct.get<KubeObject>(type, key)) === undefined
    return BigInt(held.metadata.resourceVersion ?? '0') >= BigInt(event.resourceVersion)
  })
  return secondsSince(since)
}

test('late and duplicated events cause no recreated child and no list', async () => {
  const environment = await withApplications()
  const { proxy, direct, namespace } = environment
  await startController(environment, renderer)
  await runRollouts(environment, 'calm', () => environment.settled('calm', 1))
  await environment.settled('calm', 2)
  const calm = await stateOf(environment, 'calm')
  const since = performance.now()
  let turn = 0
  proxy.onEvent({ kind: 'duplicate' }, { uses: unlimited, match: () => turn++ % 2 === 0 })
  const late = proxy.onEvent({ kind: 'late', until: () => wait(300) }, { uses: unlimited })
  await runRollouts(environment, 'storm', () => environment.settled('storm', 1))
  const uids = await uidsOf(direct, childTypes, namespace)
  await environment.settled('storm', 2)
  await until('storm to be as it was in calm', async () => (await stateOf(environment, 'storm')) === calm)
  const remade = (await uidsOf(direct, childTypes, namespace)).filter(uid => !uids.includes(uid)).length
  const lists = proxy.log.entries(({ verb }) => verb === 'list', since).length
  expect(late.used()).toBeGreaterThan(5)
  const what = 'every second event twice, the others 0.3 s late'
  await recordOutcome({ fault, case: what, measure: 'children made again', value: remade, unit: 'objects', atMost: 0 })
  await recordOutcome({ fault, case: what, measure: 'lists', value: lists, unit: 'requests', atMost: 0 })
})
