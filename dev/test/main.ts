// `make test`: everything that continuous integration runs, with CHANGED=1 what changes can affect. A cluster that it
// started it stops again; a cluster that ran before stays, and is tested in the form that it has. `--plan` only prints what
// is left out or due. `--write-order` writes the order of files from the times of the last run, for the next commit.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { down } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { devClusterFolder, readClusterSettings } from '../cluster/settings.ts'
import { clusterStatus } from '../cluster/status.ts'
import { forgetLocalState } from '../up/platform.ts'
import { parts } from './long/parts.ts'
import { ageLines, cleanCommit, readRecords, recordPart, wholeRun } from './long/records.ts'
import { reportLines } from './report.ts'
import { runLane, type StageResult } from './run-lane.ts'
import { stageOptions } from './run-stage.ts'
import { type Plan, planRun } from './selection/plan.ts'
import { installShells } from './shells.ts'
import { bothForms, type PlatformLanes, rightsOf, runningPlatform } from './stages.ts'
import { writeOrder, writeTimes } from './times.ts'

const maxKeptBytes = 5_000_000

const settings = readClusterSettings()
const progress = standardErrorProgress()
const options = stageOptions(settings, progress, 'test')
const timesFile = join(options.logFolder, 'times.json')

const { values: asked } = parseArgs({
  options: {
    changed: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    'write-order': { type: 'boolean', default: false },
  },
})
if (asked['write-order']) await renewOrder()
else if (asked.plan) for (const line of (await planFor(bothForms)).lines) console.log(line)
else await runAll()

async function renewOrder(): Promise<void> {
  if (existsSync(timesFile)) return writeOrder(settings.repository, timesFile)
  console.error(`${timesFile} does not exist: run make test first`)
  process.exitCode = 1
}

async function planFor(platform: PlatformLanes): Promise<Plan> {
  const { repository } = settings
  const records = await readRecords(repository)
  return planRun({ repository, environment: options.environment, records, platform, onlyChanged: asked.changed, all: asked.all })
}

async function runAll(): Promise<void> {
  const wasUp = settings.givenKubeconfig !== undefined || (await clusterStatus(settings)).apiServer
  if (wasUp) progress.note('the platform runs already: it is tested in the form that it has, and stays')
  await installShells(progress, settings.root && settings.givenKubeconfig === undefined)
  const started = Date.now()
  const commit = await cleanCommit(settings.repository)
  const plan = await planFor(wasUp ? runningPlatform : bothForms)
  for (const line of plan.lines) progress.note(line)
  const stages = await runLanes(plan)
  if (!isGreen(stages)) await keepClusterLogs()
  if (!wasUp) {
    await progress.step('stop the platform', () => down({ settings, progress, keepState: false }))
    await forgetLocalState(settings)
  }
  await writeTimes(timesFile, stages)
  const ages = ageLines(
    parts.map(({ name }) => name),
    await readRecords(settings.repository),
    new Date(),
  )
  for (const line of [...ages, ...plan.lines, ...reportLines(stages)]) console.log(line)
  process.exitCode = isGreen(stages) ? 0 : 1
  if (!isGreen(stages) || plan.isNarrowed || wasUp || commit === undefined) return
  const seconds = Math.round((Date.now() - started) / 1000)
  await recordPart(settings.repository, wholeRun, { commit, at: new Date().toISOString(), seconds })
}

function isGreen(stages: readonly StageResult[]): boolean {
  return stages.every(({ outcome }) => outcome === 'passed')
}

/** Every stage, those that were left out because of others too. */
async function runLanes({
  first,
  programs,
  controlPlane,
  platform,
  environment,
  leavesOut,
  withoutRights,
}: Plan): Promise<readonly StageResult[]> {
  const asPlanned = { ...options, environment: { ...options.environment, ...environment } }
  const openings = await Promise.all(first.map(stage => runLane([stage], asPlanned)))
  const opening = await runLane(settings.givenKubeconfig === undefined ? programs : [], asPlanned)
  const lanes = [controlPlane, platform.beside].map(lane => runLane(lane, asPlanned, opening.missing))
  const [control, beside] = await Promise.all(lanes)
  const alone = await runLane(platform.alone, asPlanned, beside?.missing)
  const otherForm = await runLane(platform.otherForm, asPlanned, beside?.missing)
  const stages = [...openings, opening, control, beside, alone, otherForm].flatMap(lane => lane?.stages ?? [])
  if (withoutRights !== undefined) return stages
  // After a red stage too: what was refused is known then, but not what a suite that failed would have used.
  const rights = await runLane(rightsOf(await localAuditLogs(), leavesOut || !isGreen(stages)), options)
  return [...stages, ...rights.stages]
}

/** The ends of the local cluster's logs beside those of the stages: stopping the cluster deletes it with its folder. */
async function keepClusterLogs(): Promise<void> {
  const folder = join(devClusterFolder(settings), 'logs')
  const kept = join(options.logFolder, 'cluster')
  if (settings.givenKubeconfig !== undefined || !existsSync(folder)) return
  await mkdir(kept, { recursive: true })
  for (const name of (await readdir(folder)).filter(one => !one.startsWith('audit'))) {
    const text = await readFile(join(folder, name))
    await writeFile(join(kept, name), text.subarray(-maxKeptBytes))
  }
  progress.note(`the ends of the cluster's logs are in ${kept}`)
}

/** Those of the local cluster, rotated ones included; none of a given cluster, whose log is its operator's. */
async function localAuditLogs(): Promise<readonly string[]> {
  const folder = join(devClusterFolder(settings), 'logs')
  if (settings.givenKubeconfig !== undefined || !existsSync(folder)) return []
  return (await readdir(folder)).filter(name => name.startsWith('audit')).map(name => join(folder, name))
}
