// Fault 3: after a restart the caches are filled from the past: lists answer as of an older version, and the watches that follow stay behind
// for a while. Whatever the controller does with what it believes, no child that lives is deleted or made again.
import { expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { matching } from './chaos-proxy/faults.ts'
import {
  type ApplicationEnvironment,
  childTypes,
  image,
  startController,
  stateOf,
  web,
  withApplications,
  withCharts,
  worker,
} from './fixtures/application-controller-fixture.ts'
import { fieldManager, forEver, uidsOf, until } from './fixtures/chaos-fixture.ts'
import { recordOutcome } from './outcome.ts'

const fault = 3

const renderer = withCharts()

/** A version of the server between two moments of the test: that of a write that nobody looks at. */
async function versionNow({ direct, namespace }: ApplicationEnvironment): Promise<string> {
  const data = { at: String(performance.now()) }
  const moment = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'moment' }, data }
  const { metadata } = await direct.apply(configMaps, moment, { fieldManager, force: true })
  return metadata.resourceVersion ?? expect.fail('no version')
}

/** Who they are and how often their specs have been changed. */
async function childrenOf({ direct, namespace }: ApplicationEnvironment): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (const type of childTypes)
    for (const { metadata } of await direct.list(type, { namespace }))
      found.set(`${type.kind} ${metadata.name} ${metadata.uid}`, metadata.generation ?? 0)
  return found
}

/** The life of one Application: made, a process taken away, given back, and a new image. A moment of the past after each step. */
async function live(
  environment: ApplicationEnvironment,
): Promise<readonly { readonly when: string; readonly version: string }[]> {
  const moments = [{ when: 'before it was there', version: await versionNow(environment) }]
  const step = async (when: string, spec: Record<string, unknown>, n: number): Promise<void> => {
    await environment.apply('shop', spec)
    moments.push({ when: `when ${when} was asked for`, version: await versionNow(environment) })
    await environment.settled('shop', n)
    await until(`${when} to be complete`, async () => (await pruned(environment)) === true)
    moments.push({ when: `when ${when} was done`, version: await versionNow(environment) })
  }
  const { manager } = await startController(environment, renderer)
  await step('two processes', { processes: [web, worker], image: image(1) }, 1)
  await step('one process', { processes: [web], image: image(1) }, 1)
  await step('two processes again', { processes: [web, worker], image: image(1) }, 1)
  await step('a new image', { processes: [web, worker], image: image(2) }, 2)
  await manager.stop()
  return moments
}

/** The inventory names exactly what is there. */
async function pruned(environment: ApplicationEnvironment): Promise<boolean> {
  const { direct, namespace } = environment
  const shop = await direct.get(application, { namespace, name: 'shop' })
  const there = await uidsOf(direct, childTypes, namespace)
  return shop?.status?.inventory?.length === there.length
}

async function restartIntoThePast(what: string, resources: readonly string[]): Promise<void> {
  const environment = await withApplications()
  const { proxy, direct, namespace } = environment
  const moments = await live(environment)
  const state = await stateOf(environment, 'shop')
  const since = performance.now()
  let before = await childrenOf(environment)
  let remade = 0
  let changed = 0
  for (const { when, version } of moments) {
    const caughtUp = Promise.withResolvers<void>()
    const stale = proxy.onRequest(
      { kind: 'stale', resourceVersion: version, until: caughtUp.promise },
      { uses: forEver, match: matching({ verb: ['list', 'watch'], resource: resources }) },
    )
    const { manager, runs, quietFor } = await startController(environment, renderer)
    const cache = manager.cache(application)
    expect(stale.used(), when).toBeGreaterThanOrEqual(resources.length)
    await until('a reconcile of what is believed', () => runs() > 0 || cache.get({ namespace, name: 'shop' }) === undefined)
    await quietFor(300)
    stale.disarm()
    caughtUp.resolve()
    const present = (await direct.get(application, { namespace, name: 'shop' }))?.metadata.generation
    await until('the cache to catch up', () => cache.get({ namespace, name: 'shop' })?.metadata.generation === present)
    await until(`all to be as it was before the restart into ${when}`, async () => (await stateOf(environment, 'shop')) === state)
    await quietFor(300)
    const after = await childrenOf(environment)
    for (const [child, generation] of before) {
      if (!after.has(child)) remade += 1
      else if (after.get(child) !== generation) changed += 1
    }
    before = after
    await manager.stop()
  }
  const deletes = proxy.log.entries(({ verb }) => verb === 'delete', since).length
  const name = `${moments.length} restarts into the past of ${what}`
  const count = (measure: string, value: number, unit: string): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, atMost: 0 })
  await count('living children deleted or made again', remade, 'objects')
  await count('living children changed back to what was wanted once', changed, 'objects')
  await count('deletions sent', deletes, 'requests')
}

// Each in an environment of its own, all at once: what they do most is wait.
test('restarts into the past', async () => {
  const children = ['deployments', 'services', 'ingresses', 'pods']
  const outcomes = await Promise.allSettled([
    restartIntoThePast('all kinds', ['applications', ...children]),
    restartIntoThePast('Applications alone', ['applications']),
    restartIntoThePast('children alone', children),
  ])
  expect(outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))).toEqual([])
})
