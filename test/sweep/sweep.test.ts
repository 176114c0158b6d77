// Fault 1 of the list in test/faults/fault-page.ts: a controller that is killed before and after each single write of its scenario reaches the
// state of the undisturbed run. Every controller has a scenario; `SEKISHO_LONG=1` sweeps all of them around every write, else a commit chooses some points.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBrokerApp } from '../../src/broker/app.ts'
import { readBrokerSettings } from '../../src/broker/config.ts'
import { createControllersApp } from '../../src/controllers/app.ts'
import { readControllersSettings } from '../../src/controllers/config.ts'
import { createManager, type Manager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { recordOutcome } from '../faults/outcome.ts'
import { isLong } from '../fixtures/form.ts'
import { testKubeconfig } from '../fixtures/harness.ts'
import { installPolicies } from '../fixtures/policies.ts'
import { openEnvironment } from './environment/environment.ts'
import { type Fixture, openFixture } from './environment/fixture.ts'
import { sampled, shardOf } from './sample.ts'
import type { Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { sweep } from './sweep.ts'
import { pointLines, sweepTable } from './table.ts'

/** Two cores suffice for five workers: most of a case is waiting for the cluster's own controllers. */
const workers = Number(process.env['SEKISHO_SWEEP_LANES'] ?? 5)
/** Parts of scenarios' names, separated by commas: only matching scenarios are swept. */
const wanted = (process.env['SEKISHO_SWEEP_ONLY'] ?? '').split(',').filter(Boolean)
/** `<scenario>, <point>`: only this point, as an `again:` line of `make test` names it. */
const wantedPoint = process.env['SEKISHO_SWEEP_POINT']
const [, pointScenario, point] = /^(.*), ((?:before|after) .*|undisturbed)$/.exec(wantedPoint ?? '') ?? []
/** The parts of the long form, such as 1/2: all points of all scenarios take more than an hour. */
const shard = process.env['SEKISHO_SWEEP_SHARD']
/** Scenarios without builds and without namespace deletion, which are swept around every write in the short form, too. */
const short = ['token desk', 'repository-grant: create', 'webhook inbox', 'application-chart', 'cluster-github-app']
const isChosen = ({ name, shortPoints }: Scenario): boolean => {
  if (wantedPoint !== undefined) return name === pointScenario
  if (wanted.length > 0) return wanted.some(part => name.includes(part))
  return isLong('crashes') || shortPoints !== undefined || short.some(part => name.includes(part))
}
/** A sweep with fewer points has lost some. */
const fewestPoints = 250
const mostNotReachedPercent = 5

let fixture: Fixture
let removePolicies: (() => Promise<void>) | undefined
beforeAll(async () => {
  fixture = await openFixture(testKubeconfig())
  removePolicies = await installPolicies(fixture.admin, fixture.kubeconfig)
})
afterAll(async () => {
  await removePolicies?.()
  await fixture?.stop()
})

/** Empty outside of a repository: then every run plays the same points. */
async function presentCommit(): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD']).catch(() => ({ stdout: '' }))
  return stdout.trim()
}

/** The names under which the product adds its controllers. The apps are assembled but never started. */
async function registeredControllers(): Promise<readonly string[]> {
  const environment = await openEnvironment(fixture, { component: 'controllers', namespace: 'made', github: 'none' })
  const manager = createManager({ client: fixture.kube, log: silentLog, clock: systemClock, random: Math.random })
  const names: string[] = []
  const listed: Manager = { ...manager, add: definition => void names.push(definition.name) }
  const { environment: variables } = environment.runSettings({ aheadMilliseconds: 0, clockRate: 1 })
  const deps = { store: environment.store, kube: fixture.kube, manager: listed, log: silentLog, clock: systemClock }
  const controllers = await createControllersApp({ ...deps, mode: 'production', settings: readControllersSettings(variables) })
  const broker = await createBrokerApp({
    ...deps,
    mode: 'production',
    settings: readBrokerSettings(variables),
    random: Math.random,
  })
  await Promise.all([controllers.stop(), broker.stop()])
  await environment.close()
  return names
}

describe('crash sweep', () => {
  test('the sample of a commit is the same each time, two points in their order, and another commit has others', () => {
    const points = Array.from({ length: 20 }, (_, index) => `after ${index}`)
    const of = (seed: string): readonly string[] => sampled(points, point => point, seed)
    expect(of('a')).toEqual(of('a'))
    expect(of('a')).toHaveLength(2)
    expect(points.filter(point => of('a').includes(point))).toEqual(of('a'))
    expect(new Set(Array.from({ length: 100 }, (_, commit) => of(String(commit))).flat()).size).toBe(20)
    expect(sampled(points.slice(0, 2), point => point, 'a')).toEqual(points.slice(0, 2))
    expect([shardOf(points, '1/2'), shardOf(points, '2/2')].flat().toSorted()).toEqual(points.toSorted())
    expect(() => shardOf(points, '3/2')).toThrow('SEKISHO_SWEEP_SHARD')
  })

  test('every controller of the product has a scenario', async () => {
    const covered = new Set(scenarios.flatMap(({ controllers }) => controllers))
    expect([...covered].sort()).toEqual([...(await registeredControllers())].sort())
  })

  test('a controller that is killed before or after any of its writes reaches the state of the undisturbed run', async () => {
    const chosen = shardOf(scenarios.filter(isChosen), shard)
    expect(chosen, 'the environment names no scenario').not.toEqual([])
    const results = await sweep(fixture, chosen, {
      long: isLong('crashes'),
      width: workers,
      point,
      sampleOf: wanted.length > 0 ? undefined : await presentCommit(),
    })
    const table = sweepTable(results)
    process.stdout.write(`\n${[table, ...pointLines(results)].join('\n')}\n`)
    const points = results.reduce((sum, result) => sum + result.points, 0)
    const survived = results.reduce((sum, result) => sum + result.survived, 0)
    const notReached = results.reduce((sum, result) => sum + result.notReached.length, 0)
    expect(survived, table).toBe(points)
    if (!isLong('crashes') || shard !== undefined || wanted.length > 0 || point !== undefined) return
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
