// Runs the stages of a lane one after the other, and at its end once more each file of tests in which something failed: alone,
// in a fresh process with fresh fixtures. A lane goes on after a stage that failed, unless the later ones need it.
import type { Environment } from '../../src/lib/config.ts'
import { againLine, inOneLine, nameOf, outcomePrefixes } from './again.ts'
import { runStage, type StageOptions, type StageRun } from './run-stage.ts'
import { type Lane, type Stage, vitestArguments } from './stages.ts'
import type { Failure, FileRecord } from './vitest/outcome-reporter.ts'

/** More red files of a stage are one broken thing, which a repetition does not explain. */
const maxRepeatedFiles = 8
const maxLastLines = 5

/** As Node.js says it, and as the C library does. */
const fullDisk = /ENOSPC: no space left on device|No space left on device/

/** For the process that repeats one file: what it records is added to what the first pass recorded (test/rights/record.ts). */
const secondPass = { SEKISHO_TEST_AGAIN: '1' }

export type StageResult = {
  readonly title: string
  readonly budget: number
  readonly outcome: 'passed' | 'failed' | 'left out'
  /** Of the first pass. */
  readonly seconds: number
  readonly files: readonly FileRecord[]
  /**
   * `failed:`, `flaky:` and `again:` for each test that was not simply green; of a failed program that names none, its last
   * lines.
   */
  readonly lines: readonly string[]
}
/** `environment`: of the run and the stage, for what is repeated, too: whether files are played in their long form. */
type Pass = { readonly result: StageResult; readonly repeat: readonly FileRecord[]; readonly environment: Environment }
/** `missing`: why the lanes that need this one are left out. */
export type LaneResult = { readonly stages: readonly StageResult[]; readonly missing: string | undefined }

/** Never rejects because of a stage. With `missing`, the reason, all its stages are left out. */
export async function runLane(lane: Lane, options: StageOptions, missing?: string): Promise<LaneResult> {
  const passes: Pass[] = []
  let reason = missing
  for (const stage of lane) {
    const { title, budget } = stage
    const environment = { ...options.environment, ...stage.environment }
    if (reason !== undefined) {
      const lines = [`left out: ${title}: ${reason}`]
      passes.push({ result: { title, budget, outcome: 'left out', seconds: 0, files: [], lines }, repeat: [], environment })
      continue
    }
    const run = await runStage(stage, options)
    const { failed, repeat, lines } = judge(stage, run, environment)
    const files = run.record?.files ?? []
    passes.push({
      result: { title, budget, outcome: failed ? 'failed' : 'passed', seconds: run.seconds, files, lines },
      repeat,
      environment,
    })
    if (failed && stage.isNeeded) reason = `it needs “${title}”, which failed`
  }
  const stages: StageResult[] = []
  for (const { result, repeat, environment } of passes) stages.push(await repeated(result, repeat, { ...options, environment }))
  return { stages, missing: reason }
}

type Judgement = { readonly failed: boolean; readonly repeat: readonly FileRecord[]; readonly lines: readonly string[] }

/** Of the first pass. Files to repeat have not failed yet; everything else that is red has. */
function judge(stage: Stage, { code, output, record }: StageRun, environment: Environment): Judgement {
  const { title } = stage
  const printed = output.split('\n').filter(line => outcomePrefixes.some(prefix => line.startsWith(prefix)))
  if (code === 0) return { failed: false, repeat: [], lines: printed }
  const outside = [
    ...(fullDisk.test(output)
      ? [`failed: ${title}: a disk was full while it ran: free some of what df shows, and run it again`]
      : []),
    ...(typeof code === 'string' ? [`failed: ${title}: it ended with ${code}`] : []),
    ...(record?.stray ?? []).map(error => `failed: ${title}: outside of a test: ${inOneLine(error)}`),
    // So Vitest names what failed after its report: stopping what all files use, which may have judged what they did.
    ...output
      .split('\n')
      .flatMap(line => (line.startsWith('error during close') ? [`failed: ${title}: ${inOneLine(line)}`] : [])),
  ]
  const red = (record?.files ?? []).filter(({ failures }) => failures.length > 0)
  const lines = [...printed, ...outside]
  const isNamed = lines.some(line => line.startsWith('failed: '))
  if (red.length === 0) return { failed: true, repeat: [], lines: lines.length > 0 ? lines : lastLines(stage, code, output) }
  const tooMany = red.length > maxRepeatedFiles
  if (!stage.repeatsItself && !tooMany) return { failed: isNamed, repeat: red, lines }
  const broken = tooMany
    ? [`failed: ${title}: ${red.length} files, more than ${maxRepeatedFiles}: one broken thing, so none was repeated`]
    : []
  // What repeats by itself names what failed, unless it could not even begin.
  if (stage.repeatsItself && isNamed) return { failed: true, repeat: [], lines }
  const named = red.flatMap(file =>
    file.failures.flatMap(failure => [
      `failed: ${nameOf(file, failure)}: ${inOneLine(failure.error)}`,
      againLine(file, failure, environment),
    ]),
  )
  return { failed: true, repeat: [], lines: [...lines, ...broken, ...named] }
}

/** Of a program that names no test. */
function lastLines({ title }: Stage, code: number | string, output: string): readonly string[] {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const last = lines.length === 0 ? [`it printed nothing and ended with ${code}`] : lines.slice(-maxLastLines)
  return last.map(line => `failed: ${title}: ${inOneLine(line)}`)
}

async function repeated(result: StageResult, files: readonly FileRecord[], options: StageOptions): Promise<StageResult> {
  let failed = result.outcome === 'failed'
  const lines = [...result.lines]
  for (const file of files) {
    const stage: Stage = {
      title: `once more: ${file.file}`,
      budget: 0,
      args: vitestArguments([file.project], [file.file]),
      environment: secondPass,
    }
    const run = await runStage(stage, options)
    const outcome = compared(file, run, options.environment)
    if (run.code !== 0 || outcome.some(line => line.startsWith('failed: '))) failed = true
    lines.push(...outcome)
  }
  return { ...result, outcome: failed ? 'failed' : result.outcome, lines }
}

/** A test that the second pass skips, and the first did not, has not passed. */
function didNotRun({ test }: Failure, first: FileRecord, second: FileRecord | undefined): boolean {
  const isMeant = (name: string): boolean => test === undefined || name === test || name.startsWith(`${test} > `)
  return second?.skipped.some(name => isMeant(name) && !first.skipped.includes(name)) !== false
}

/** Both errors of each test that was red in one of the two passes. */
function compared(first: FileRecord, run: StageRun, environment: Environment): readonly string[] {
  const second = run.record?.files.find(({ file }) => file === first.file)
  const key = ({ test }: Failure): string => test ?? ''
  const again = new Map((second?.failures ?? []).map(failure => [key(failure), failure]))
  const lines = first.failures.flatMap(failure => {
    const other = again.get(key(failure))?.error ?? (didNotRun(failure, first, second) ? 'it did not run' : undefined)
    again.delete(key(failure))
    const outcome = other === undefined ? 'flaky' : 'failed'
    return [
      `${outcome}: ${nameOf(first, failure)}: ${inOneLine(failure.error)} || (second: ${other === undefined ? 'passed' : inOneLine(other)})`,
      againLine(first, failure, environment),
    ]
  })
  const onlyAgain = [...again.values()].flatMap(failure => [
    `failed: ${nameOf(first, failure)}: (first: passed) || (second: ${inOneLine(failure.error)})`,
    againLine(first, failure, environment),
  ])
  const failedElsewhere = run.code !== 0 && (second?.failures ?? []).length === 0
  const title = `once more: ${first.file}`
  return [...lines, ...onlyAgain, ...(failedElsewhere ? lastLines({ title, budget: 0, args: [] }, run.code, run.output) : [])]
}
