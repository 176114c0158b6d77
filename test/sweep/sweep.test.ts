// Fault 1 of the list in test/faults/fault-page.ts: a controller that is killed before and after each single write of its
// scenario reaches the state of the undisturbed run. Every controller has a scenario; `SEKISHO_LONG=1` sweeps all of them
// around every write, else a commit chooses some points.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crashPoints } from '../../dev/test/selection/proofs.ts'
import type { KubeObject } from '../../src/api/resource.ts'
import { createBrokerApp } from '../../src/broker/app.ts'
import { readBrokerSettings } from '../../src/broker/config.ts'
import { createControllersApp } from '../../src/controllers/app.ts'
import { readControllersSettings } from '../../src/controllers/config.ts'
import { createDataServicesApp } from '../../src/data-services/app.ts'
import { createManager, type Manager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { recordOutcome } from '../faults/outcome.ts'
import { covers, isLong, playsEveryShortPoint } from '../fixtures/form.ts'
import { testKubeconfig } from '../fixtures/harness.ts'
import { presentCommit } from '../fixtures/in-turn.ts'
import { installPolicies } from '../fixtures/policies.ts'
import { plainObject } from './assertions/plain.ts'
import { openEnvironment } from './environment/environment.ts'
import { type Fixture, openFixture } from './environment/fixture.ts'
import type { Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { scenariosInTurn } from './scenarios-in-turn.ts'
import { shardOf } from './shard.ts'
import { pointText, shortPointsOf, sweep } from './sweep.ts'
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
const inTurn = scenariosInTurn(scenarios, presentCommit(), playsEveryShortPoint)
const isChosen = (scenario: Scenario): boolean => {
  const { name } = scenario
  if (wantedPoint !== undefined) return name === pointScenario
  if (wanted.length > 0) return wanted.some(part => name.includes(part))
  return isLong('crashes') || inTurn.includes(scenario)
}
/** A sweep with fewer points has lost some. */
const fewestPoints = 250
const maxNotReachedPercent = 5

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

/** The names under which the product adds its controllers. The apps are assembled but never started. */
async function registeredControllers(): Promise<readonly string[]> {
  const environment = await openEnvironment(fixture, { component: 'controllers', namespace: 'made', github: 'none' })
  const manager = createManager({ client: fixture.kube, log: silentLog, clock: systemClock, random: Math.random })
  const names: string[] = []
  const listed: Manager = { ...manager, add: definition => void names.push(definition.name) }
  const { environment: variables } = environment.runSettings({ aheadMilliseconds: 0, clockRate: 1 })
  const deps = { store: environment.store, kube: fixture.kube, manager: listed, log: silentLog, clock: systemClock }
  const controllers = await createControllersApp({
    ...deps,
    mode: 'production',
    kubeWith: () => expect.fail('the app is never started'),
    settings: readControllersSettings(variables),
  })
  const broker = await createBrokerApp({
    ...deps,
    mode: 'production',
    settings: readBrokerSettings(variables),
    random: Math.random,
  })
  const dataServices = createDataServicesApp(deps)
  await Promise.all([controllers.stop(), broker.stop(), dataServices.stop()])
  await environment.close()
  return names
}

describe('crash sweep', () => {
  test('the parts of the long form are all scenarios', () => {
    const names = scenarios.map(({ name }) => name)
    expect([shardOf(names, '1/2'), shardOf(names, '2/2')].flat().toSorted()).toEqual(names.toSorted())
    expect(() => shardOf(names, '3/2')).toThrow('SEKISHO_SWEEP_SHARD')
  })

  test('every scenario has its turn within some commits, and one with named points when what it proves changed', () => {
    const turns = Array.from({ length: 60 }, (_, commit) => scenariosInTurn(scenarios, String(commit), () => false))
    expect(scenarios.filter(one => !turns.some(turn => turn.includes(one)))).toEqual([])
    expect(turns.filter(turn => turn.length > scenarios.length / 2)).toEqual([])
    const changed = scenariosInTurn(scenarios, '', () => true)
    expect(scenarios.filter(one => one.shortPoints !== undefined && !changed.includes(one))).toEqual([])
  })

  test('every subject whose code can change has scenarios, and what knows one kind of server has all of that kind', () => {
    const of = (subject: string): readonly string[] => scenarios.filter(one => covers(one, subject)).map(({ name }) => name)
    expect(Object.keys(crashPoints).filter(subject => of(subject).length === 0)).toEqual([])
    for (const [subject, kind] of [
      ['database', 'databases'],
      ['bucket', 'buckets'],
    ] as const)
      expect(of(subject)).toEqual(scenarios.filter(one => one.environment.services === kind).map(({ name }) => name))
  })

  test('the short form leaves out the point before a write only where it has the one after the previous write', () => {
    const undisturbed = { state: {}, writes: ['a', 'b', 'status', 'b', 'c'] }
    const texts = (chosen: RegExp): readonly string[] => shortPointsOf(undisturbed, chosen).map(pointText)
    expect(texts(/[abc]$|\(2\)$/)).toEqual(['before a', 'after a', 'after b', 'after b (2)', 'after c'])
    expect(texts(/ [bc]\b/)).toEqual(['before b', 'after b', 'after b (2)', 'after c'])
    expect(texts(/^before/)).toEqual(['before a', 'before b', 'before status', 'before c'])
    expect(texts(/ c$/)).toEqual(['before c', 'after c'])
  })

  test('a rollout that waited for the cluster’s own controllers is no other state', () => {
    const of = (rollout: object) => {
      const object = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Application', metadata: { name: 'shop' } }
      return plainObject({ ...object, status: { rollout: { release: 2, before: 1, ...rollout } } } as KubeObject, 'w')
    }
    expect(of({ delayed: true, observedAt: '2026-01-01T00:00:00Z' })).toEqual(of({}))
    expect(of({ before: 0 })).not.toEqual(of({}))
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
      sampleOf: wanted.length > 0 ? undefined : presentCommit(),
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
      atMost: maxNotReachedPercent,
    })
  })
})
