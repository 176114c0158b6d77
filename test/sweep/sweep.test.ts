// The crash sweep (fault 1): every controller, killed before and after each single write of its scenario, ends where the undisturbed run ends.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createControllersApp } from '../../src/controllers/app.ts'
import { readControllersSettings } from '../../src/controllers/config.ts'
import { createManager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { recordOutcome } from '../faults/outcome.ts'
import { installDefinitions, installKinds } from '../integration/application-site.ts'
import { testKubeconfig } from '../integration/harness.ts'
import { kpackDefinitions } from '../integration/remote-sync-site.ts'
import { openTestStore } from '../store/databases.ts'
import { scenarios } from './scenarios/index.ts'
import { sweep } from './sweep.ts'
import { sweepTable } from './table.ts'
import { openSite, type Site } from './world/site.ts'

/** Two cores carry this many: most of a case is waiting for the cluster's own controllers. */
const lanes = Number(process.env['SEKISHO_SWEEP_LANES'] ?? 5)
/** A part of a scenario's name, to sweep only those that have it. */
const wanted = process.env['SEKISHO_SWEEP_ONLY'] ?? ''
/** A sweep that tries less than this has lost its points somewhere. */
const fewestPoints = 250
const mostNotReachedPercent = 5

let site: Site
beforeAll(async () => {
  await installKinds()
  await installDefinitions(kpackDefinitions)
  site = await openSite(testKubeconfig())
})
afterAll(() => site?.stop())

/** The names under which the product adds its controllers. */
async function registeredControllers(): Promise<readonly string[]> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sweep-names-'))
  const store = await openTestStore({ dataFolder: 'memory://' })
  const manager = createManager({ client: site.kube, log: silentLog, clock: systemClock, random: Math.random })
  const names: string[] = []
  const settings = readControllersSettings({
    SEKISHO_DATA_FOLDER: dataFolder,
    SEKISHO_REGISTRY: 'registry.example.com',
    SEKISHO_INGRESS_CLASS: 'traefik',
    SEKISHO_APPLICATION_URL: 'http://localhost:8080',
  })
  const listed = { ...manager, add: (definition: Parameters<typeof manager.add>[0]) => void names.push(definition.name) }
  const app = await createControllersApp({
    settings,
    store,
    kube: site.kube,
    manager: listed,
    log: silentLog,
    clock: systemClock,
  })
  await app.stop()
  await store.close()
  return names
}

describe('crash sweep', () => {
  test('every controller of the product has a scenario', async () => {
    const covered = new Set(scenarios.flatMap(({ controllers }) => controllers))
    expect([...covered].sort()).toEqual([...(await registeredControllers())].sort())
  })

  test('a controller that is killed around any of its writes ends where the undisturbed one ends', async () => {
    const chosen = scenarios.filter(({ name }) => name.includes(wanted))
    const results = await sweep(site, chosen, lanes)
    const table = sweepTable(results)
    process.stdout.write(`\n${table}\n`)
    const points = results.reduce((sum, result) => sum + result.points, 0)
    const survived = results.reduce((sum, result) => sum + result.survived, 0)
    const notReached = results.reduce((sum, result) => sum + result.notReached.length, 0)
    expect(survived, table).toBe(points)
    if (wanted !== '') return
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
