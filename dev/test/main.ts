// `make test`: everything that continuous integration runs. A cluster that it started it stops again; a cluster that ran before stays, and is tested in
// the form that it has. `node dev/test/main.ts --write-order` writes the order of files from the times of the last run, for the next commit.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { down } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { devClusterFolder, readClusterSettings } from '../cluster/settings.ts'
import { clusterStatus } from '../cluster/status.ts'
import { forgetLocalState } from '../up/platform.ts'
import { parts } from './long/parts.ts'
import { ageLines, readRecords } from './long/records.ts'
import { reportLines } from './report.ts'
import { runLane, type StageResult } from './run-lane.ts'
import { stageOptions } from './run-stage.ts'
import { installShells } from './shells.ts'
import { bothForms, controlPlane, first, programs, rightsOf, runningPlatform } from './stages.ts'
import { writeOrder, writeTimes } from './times.ts'

const mostKeptBytes = 5_000_000

const settings = readClusterSettings()
const progress = standardErrorProgress()
const options = stageOptions(settings, progress, 'test')
const timesFile = join(options.logFolder, 'times.json')

const [asked] = process.argv.slice(2)
if (asked === undefined) await runEverything()
else if (asked !== '--write-order') refuse(`unknown argument ${asked}: there is only --write-order`)
else if (!existsSync(timesFile)) refuse(`${timesFile} does not exist: run make test first`)
else await writeOrder(settings.repository, timesFile)

function refuse(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

async function runEverything(): Promise<void> {
  const wasUp = settings.givenKubeconfig !== undefined || (await clusterStatus(settings)).apiServer
  if (wasUp) progress.note('the platform runs already: it is tested in the form that it has, and stays')
  await installShells(progress, settings.root && settings.givenKubeconfig === undefined)
  const stages = await runLanes(wasUp ? runningPlatform : bothForms)
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
  for (const line of [...ages, ...reportLines(stages)]) console.log(line)
  process.exitCode = isGreen(stages) ? 0 : 1
}

function isGreen(stages: readonly StageResult[]): boolean {
  return stages.every(({ outcome }) => outcome === 'passed')
}

/** Every stage, those that were left out too. */
async function runLanes(platform: typeof bothForms): Promise<readonly StageResult[]> {
  const opening = await runLane(settings.givenKubeconfig === undefined ? [...first, ...programs] : first, options)
  const lanes = [controlPlane, platform.beside].map(lane => runLane(lane, options, opening.missing))
  const [control, beside] = await Promise.all(lanes)
  const alone = await runLane(platform.alone, options, beside?.missing)
  const otherForm = await runLane(platform.otherForm, options, beside?.missing)
  const stages = [opening, control, beside, alone, otherForm].flatMap(lane => lane?.stages ?? [])
  const rights = isGreen(stages)
    ? await runLane(rightsOf(await localAuditLogs()), options)
    : await runLane(rightsOf([]), options, 'of a suite that failed, what it would have used is not known')
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
    await writeFile(join(kept, name), text.subarray(-mostKeptBytes))
  }
  progress.note(`the ends of the cluster's logs are in ${kept}`)
}

/** Those of the local cluster, rotated ones included; none of a given cluster, whose log is its operator's. */
async function localAuditLogs(): Promise<readonly string[]> {
  if (settings.givenKubeconfig !== undefined) return []
  const folder = join(devClusterFolder(settings), 'logs')
  return (await readdir(folder)).filter(name => name.startsWith('audit')).map(name => join(folder, name))
}
