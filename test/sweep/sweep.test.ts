// The crash sweep (fault 1): a controller that is killed before and after each single write of its scenario ends where the undisturbed run ends.
// Every controller has a scenario; `SEKISHO_LONG=1` sweeps all of them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBrokerApp } from '../../src/broker/app.ts'
import { readBrokerSettings } from '../../src/broker/config.ts'
import { createControllersApp } from '../../src/controllers/app.ts'
import { readControllersSettings } from '../../src/controllers/config.ts'
import { createManager, type Manager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { recordOutcome } from '../faults/outcome.ts'
import { installDefinitions, installKinds } from '../fixtures/application-fixture.ts'
import { testKubeconfig } from '../fixtures/harness.ts'
import { kpackDefinitions } from '../fixtures/remote-sync-fixture.ts'
import { openEnvironment } from './environment/environment.ts'
import { type Fixture, openFixture } from './environment/fixture.ts'
import { scenarios } from './scenarios/index.ts'
import { sweep } from './sweep.ts'
import { sweepTable } from './table.ts'

/** Two cores carry this many: most of a case is waiting for the cluster's own controllers. */
const workers = Number(process.env['SEKISHO_SWEEP_LANES'] ?? 5)
/** A component of a scenario's name, to sweep only those that have it. */
const wanted = process.env['SEKISHO_SWEEP_ONLY'] ?? ''
/** The whole sweep takes a quarter of an hour and more on two cores; without this only what is short is swept. */
const long = process.env['SEKISHO_LONG'] === '1'
/** Those without builds and without namespaces to end. */
const short = ['token desk', 'repository-grant: create', 'webhook inbox', 'application-chart', 'cluster-github-app']
const isChosen = (name: string): boolean =>
  wanted !== '' ? name.includes(wanted) : long || short.some(component => name.includes(component))
/** A sweep that tries less than this has lost its points somewhere. */
const fewestPoints = 250
const mostNotReachedPercent = 5

let fixture: Fixture
beforeAll(async () => {
  await installKinds()
  await installDefinitions(kpackDefinitions)
  fixture = await openFixture(testKubeconfig())
})
afterAll(() => fixture?.stop())

/** The names under which the product adds its controllers. The apps are put together and never started. */
async function registeredControllers(): Promise<readonly string[]> {
  const environment = await openEnvironment(fixture, { component: 'controllers', namespace: 'made', github: 'none' })
  const manager = createManager({ client: fixture.kube, log: silentLog, clock: systemClock, random: Math.random })
  const names: string[] = []
  const listed: Manager = { ...manager, add: definition => void names.push(definition.name) }
  const { environment: variables } = environment.life(0)
  const deps = { store: environment.store, kube: fixture.kube, manager: listed, log: silentLog, clock: systemClock }
  const controllers = await createControllersApp({ ...deps, settings: readControllersSettings(variables) })
  const broker = await createBrokerApp({ ...deps, settings: readBrokerSettings(variables), random: Math.random })
  await Promise.all([controllers.stop(), broker.stop()])
  await environment.close()
  return names
}

describe('crash sweep', () => {
  test('every controller of the product has a scenario', async () => {
    const covered = new Set(scenarios.flatMap(({ controllers }) => controllers))
    expect([...covered].sort()).toEqual([...(await registeredControllers())].sort())
  })

  test('a controller that is killed around any of its writes ends where the undisturbed one ends', async () => {
    const chosen = scenarios.filter(({ name }) => isChosen(name))
    const results = await sweep(fixture, chosen, workers)
    const table = sweepTable(results)
    process.stdout.write(`\n${table}\n`)
    const points = results.reduce((sum, result) => sum + result.points, 0)
    const survived = results.reduce((sum, result) => sum + result.survived, 0)
    const notReached = results.reduce((sum, result) => sum + result.notReached.length, 0)
    expect(survived, table).toBe(points)
    if (!long || wanted !== '') return
    const kill = 'the process is killed before and after each single external write'
    await recordOutcome({
      fault: 1,
      case: kill,
      measure: 'write points tried',
      value: points,
      unit: 'points',
      atLeast: fewestPoints,
    })
    await recordOutcome({
      fault: 1,
      case: kill,
      measure: 'the same final state and no duplicate effect',
      value: (survived / points) * 100,
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault: 1,
      case: kill,
      measure: 'points that a race of the undisturbed run made, and no other run',
      value: (notReached / (points + notReached)) * 100,
      unit: '%',
      atMost: mostNotReachedPercent,
    })
  })
})
