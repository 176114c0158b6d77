// `make test-long`: all parts of the long tests one after the other; `PART=<name>` for one, `PART=list` for their names. A part
// that passed on a checkout without changes is written into docs/reference/long-tests.json, which is to be committed.
import { down } from '../../cluster/down.ts'
import { standardErrorProgress } from '../../cluster/progress.ts'
import { readClusterSettings } from '../../cluster/settings.ts'
import { clusterStatus } from '../../cluster/status.ts'
import { forgetLocalState } from '../../up/platform.ts'
import { reportLines } from '../report.ts'
import { runLane, type StageResult } from '../run-lane.ts'
import { stageOptions } from '../run-stage.ts'
import { up } from '../stages.ts'
import { type Part, parts } from './parts.ts'
import { ageLines, cleanCommit, readRecords, recordPart } from './records.ts'

const settings = readClusterSettings()
const progress = standardErrorProgress()
const options = stageOptions(settings, progress, 'test-long')
const names = parts.map(({ name }) => name)

const [wanted] = process.argv.slice(2)
const chosen = wanted === undefined || wanted === '' ? parts : parts.filter(({ name }) => name === wanted)
if (wanted === 'list') {
  for (const { name, proves } of parts) console.log(`${name.padEnd(24)}${proves}`)
  for (const line of ageLines(names, await readRecords(settings.repository), new Date())) console.log(line)
} else if (chosen.length === 0) {
  console.error(`PART must be one of ${names.join(', ')}, or list, not ${wanted}`)
  process.exitCode = 2
} else if (settings.givenKubeconfig !== undefined || (await clusterStatus(settings)).apiServer) {
  console.error('a cluster runs already, or KUBECONFIG names one: the long tests start and stop their own; make down')
  process.exitCode = 2
} else await playAll()

async function playAll(): Promise<void> {
  for (const part of chosen) {
    const commit = await cleanCommit(settings.repository)
    const started = Date.now()
    const stages = await play(part)
    for (const line of reportLines(stages)) console.log(line)
    if (stages.some(({ outcome }) => outcome !== 'passed')) process.exitCode = 1
    else if (commit === undefined) progress.note(`${part.name} passed; it is not recorded, because files differ from the commit`)
    else {
      const seconds = Math.round((Date.now() - started) / 1000)
      await recordPart(settings.repository, part.name, { commit, at: new Date().toISOString(), seconds })
    }
  }
}

async function play({ mode, lane }: Part): Promise<readonly StageResult[]> {
  if (mode === undefined) return (await runLane(lane, options)).stages
  try {
    return (await runLane([up(mode), ...lane], options)).stages
  } finally {
    await progress.step('stop the platform', () => down({ settings, progress, keepState: false }))
    await forgetLocalState(settings)
  }
}
