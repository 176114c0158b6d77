// `make test`: everything that continuous integration runs. A cluster that it started it stops again; a cluster that ran before stays, and is tested in
// the form that it has.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processEnvironment } from '../../src/lib/config.ts'
import { down } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { devClusterFolder, readClusterSettings } from '../cluster/settings.ts'
import { clusterStatus } from '../cluster/status.ts'
import { forgetLocalState } from '../up/platform.ts'
import { type LaneResult, runLane } from './run-lane.ts'
import { installShells } from './shells.ts'
import { bothForms, controlPlane, first, programs, rightsOf, runningPlatform } from './stages.ts'

const mostKeptBytes = 5_000_000

const settings = readClusterSettings()
const progress = standardErrorProgress()
const options = {
  repository: settings.repository,
  environment: processEnvironment(),
  logFolder: join(settings.stateFolder, 'test'),
  progress,
  print: (text: string): void => void process.stdout.write(text),
}

const wasUp = settings.givenKubeconfig !== undefined || (await clusterStatus(settings)).apiServer
const platform = wasUp ? runningPlatform : bothForms
if (wasUp) progress.note('the platform runs already: it is tested in the form that it has, and stays')
await installShells(progress, settings.root && settings.givenKubeconfig === undefined)
const before = settings.givenKubeconfig === undefined ? [...first, ...programs] : first
const results: LaneResult[] = [await runLane(before, options)]
const isGreen = (): boolean => results.every(({ failed }) => failed === undefined)
if (isGreen()) results.push(...(await Promise.all([controlPlane, platform.beside].map(lane => runLane(lane, options)))))
if (isGreen()) results.push(await runLane(platform.alone, options))
// Of a suite that failed, what it would have used is not known.
if (isGreen()) results.push(await runLane(rightsOf(await localAuditLogs()), options))
else await keepClusterLogs()
if (!wasUp) {
  await progress.step('stop the platform', () => down({ settings, progress, keepState: false }))
  await forgetLocalState(settings)
}
const passed = results.reduce((sum, result) => sum + result.passed, 0)
const failed = results.flatMap(result => result.failed ?? [])
const lanes = [before, controlPlane, platform.beside, platform.alone, rightsOf([])]
const all = lanes.reduce((sum, lane) => sum + lane.length, 0)
console.log(`\nstages: ${passed} of ${all} passed${failed.length === 0 ? '' : `; failed: ${failed.join(', ')}`}`)
// At the very end, where a reader of a cut log finds them.
for (const line of results.flatMap(({ outcomes }) => outcomes)) console.log(line)
process.exitCode = failed.length === 0 && passed === all ? 0 : 1

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
