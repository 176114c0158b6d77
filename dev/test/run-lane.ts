// Runs the stages of a lane one after the other. What a stage prints goes to a file and appears in one piece when the stage has ended, because
// another lane prints at the same time. A lane ends with its first stage that fails.
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Environment } from '../../src/lib/config.ts'
import type { Progress } from '../cluster/progress.ts'
import { outcomePrefixes } from './outcome-reporter.ts'
import type { Lane, Stage } from './stages.ts'

export type LaneOptions = {
  /** The working directory of every stage. */
  readonly repository: string
  /** The variables that every stage gets. */
  readonly environment: Environment
  /** Gets a file for each stage. */
  readonly logFolder: string
  readonly progress: Progress
  /** Gets what a stage printed. */
  readonly print: (text: string) => void
}

const mostLastLines = 5
const mostCharacters = 240

/** How many stages passed, the title of the one that failed, and a line for each test that failed or passed only when it was repeated; of a failed program that names none, its last lines. */
export type LaneResult = { readonly passed: number; readonly failed: string | undefined; readonly outcomes: readonly string[] }

/** Never rejects because of a stage. */
export async function runLane(lane: Lane, options: LaneOptions): Promise<LaneResult> {
  let passed = 0
  const outcomes: string[] = []
  for (const stage of lane) {
    const { code, output } = await options.progress.step(stage.title, () => runStage(stage, options))
    const named = output.split('\n').filter(line => outcomePrefixes.some(prefix => line.startsWith(prefix)))
    outcomes.push(...named)
    if (code !== 0) {
      if (named.length === 0) outcomes.push(...lastLines(output).map(line => `failed: ${stage.title}: ${line}`))
      options.progress.note(`${stage.title} FAILED (${code}); its output is above and in ${logFile(stage, options)}`)
      return { passed, failed: stage.title, outcomes }
    }
    passed += 1
  }
  return { passed, failed: undefined, outcomes }
}

/** Of a program that names no test. */
function lastLines(output: string): readonly string[] {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  return lines.slice(-mostLastLines).map(line => line.trim().slice(0, mostCharacters))
}

function logFile({ title }: Stage, { logFolder }: LaneOptions): string {
  return join(
    logFolder,
    `${title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/-$/, '')}.log`,
  )
}

/** Resolves to what it printed and to its exit code, or to the signal or error that ended it. */
async function runStage(
  stage: Stage,
  options: LaneOptions,
): Promise<{ readonly code: number | string; readonly output: string }> {
  await mkdir(options.logFolder, { recursive: true })
  const path = logFile(stage, options)
  const log = createWriteStream(path)
  const child = spawn(process.execPath, stage.args, {
    cwd: options.repository,
    env: { ...options.environment, ...stage.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const output of [child.stdout, child.stderr]) output.pipe(log, { end: false })
  const code = await new Promise<number | string>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'ended'))
  })
  log.end()
  await finished(log)
  const output = await readFile(path, 'utf8')
  options.print(`\n──── ${stage.title}\n${output}`)
  return { code, output }
}
