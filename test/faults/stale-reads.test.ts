// Fault 3 of the list in fault-page.ts: after a restart the caches are filled with an older state: lists answer as of an older
// version, and the watches that follow lag for a while. Whatever the controller does meanwhile, no existing child is deleted or
// recreated.
import { expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { image, withCharts } from '../fixtures/application-controller.ts'
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
import { fieldManager, uidsOf, unlimited, until } from './fixtures/chaos-fixture.ts'
import { expectAllFulfilled } from './fixtures/concurrent-cases.ts'
import { recordOutcome } from './outcome.ts'

const fault = 3

const renderer = withCharts()

/** A resourceVersion of the server between two steps of the test: that of a write to an unrelated object. */
async function versionNow({ direct, namespace }: ApplicationEnvironment): Promise<string> {
  const data = { at: String(performance.now()) }
  const marker = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'marker' }, data }
  const { metadata } = await direct.apply(configMaps, marker, { fieldManager, force: true })
  return metadata.resourceVersion ?? expect.fail('no version')
}

/** The identities of the children and how often their specs have changed. */
async function childrenOf({ direct, namespace }: ApplicationEnvironment): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (const type of childTypes)
    for (const { metadata } of await direct.list(type, { namespace }))
      found.set(`${type.kind} ${metadata.name} ${metadata.uid}`, metadata.generation ?? 0)
  return found
}

/**
 * The history of one Application: created, a process removed, added again, and a new image. Records a version after each step.
 */
async function runHistory(
  environment: ApplicationEnvironment,
): Promise<readonly { readonly when: string; readonly version: string }[]> {
  const snapshots = [{ when: 'before it was there', version: await versionNow(environment) }]
  const step = async (when: string, spec: Record<string, unknown>, n: number): Promise<void> => {
    await environment.apply('shop', spec)
    snapshots.push({ when: `when ${when} was asked for`, version: await versionNow(environment) })
    await environment.settled('shop', n)
    await until(`${when} to be complete`, async () => (await pruned(environment)) === true)
    snapshots.push({ when: `when ${when} was done`, version: await versionNow(environment) })
  }
  const { manager } = await startController(environment, renderer)
  await step('two processes', { processes: [web, worker], image: image(1) }, 1)
  await step('one process', { processes: [web], image: image(1) }, 1)
  await step('two processes again', { processes: [web, worker], image: image(1) }, 1)
  await step('a new image', { processes: [web, worker], image: image(2) }, 2)
  await manager.stop()
  return snapshots
}

/** Whether the inventory has as many entries as there are children. */
async function pruned(environment: ApplicationEnvironment): Promise<boolean> {
  const { direct, namespace } = environment
  const shop = await direct.get(application, { namespace, name: 'shop' })
  const there = await uidsOf(direct, childTypes, namespace)
  return shop?.status?.inventory?.length === there.length
}

async function restartIntoThePast(what: string, resources: readonly string[]): Promise<void> {
  const environment = await withApplications()
  const { proxy, direct, namespace } = environment
  const snapshots = await runHistory(environment)
  const state = await stateOf(environment, 'shop')
  const since = performance.now()
  let before = await childrenOf(environment)
  let remade = 0
  let changed = 0
  for (const { when, version } of snapshots) {
    const caughtUp = Promise.withResolvers<void>()
    const stale = proxy.onRequest(
      { kind: 'stale', resourceVersion: version, until: caughtUp.promise },
      { uses: unlimited, match: matching({ verb: ['list', 'watch'], resource: resources }) },
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
  const name = `${snapshots.length} restarts into the past of ${what}`
  const count = (measure: string, value: number, unit: string): Promise<void> =>
    recordOutcome({ fault, case: name, measure, value, unit, atMost: 0 })
  await count('living children deleted or made again', remade, 'objects')
  await count('living children changed back to what was wanted once', changed, 'objects')
  await count('deletions sent', deletes, 'requests')
}

// Each case has its own environment; they run concurrently because they mostly wait.
test('a restart with an older state deletes and recreates no child', async () => {
  const children = ['deployments', 'services', 'ingresses', 'pods']
  await expectAllFulfilled([
    restartIntoThePast('all kinds', ['applications', ...children]),
    restartIntoThePast('Applications alone', ['applications']),
    restartIntoThePast('children alone', children),
  ])
})
