// Runs one stage. What it prints goes to a file and appears in one piece when it has ended, because another lane prints at
// the same time.
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { type Environment, processEnvironment } from '../../src/lib/config.ts'
import type { Progress } from '../cluster/progress.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import { calibrate } from './calibration.ts'
import type { Stage } from './stages.ts'
import { type RunRecord, recordVariable } from './vitest/outcome-reporter.ts'

export type StageOptions = {
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

/**
 * Those of a run in this process's environment, whose output is shown on standard output. `folder`: of the logs, below the
 * state folder.
 */
export function stageOptions(
  { repository, stateFolder }: Pick<ClusterSettings, 'repository' | 'stateFolder'>,
  progress: Progress,
  folder: string,
): StageOptions {
  const print = (text: string): void => void process.stdout.write(text)
  // The stages begin with the factor that was measured before any of them ran.
  const environment = { ...processEnvironment() }
  calibrate(environment)
  return { repository, environment, logFolder: join(stateFolder, folder), progress, print }
}

export type StageRun = {
  /** The exit code, or the signal or error that ended it. */
  readonly code: number | string
  readonly seconds: number
  readonly output: string
  /** Of a run of Vitest that came to its end. */
  readonly record: RunRecord | undefined
}

/** Never rejects because of the stage. */
export async function runStage(stage: Stage, options: StageOptions): Promise<StageRun> {
  await mkdir(options.logFolder, { recursive: true })
  const path = stageFile(stage, options, 'log')
  const recordPath = stageFile(stage, options, 'json')
  await rm(recordPath, { force: true })
  const started = performance.now()
  const code = await options.progress.step(stage.title, async () => {
    const log = createWriteStream(path)
    const child = spawn(process.execPath, stage.args, {
      cwd: options.repository,
      env: { ...options.environment, ...stage.environment, [recordVariable]: recordPath },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const forget = endWithRun(child)
    for (const output of [child.stdout, child.stderr]) output.pipe(log, { end: false })
    const ended = await new Promise<number | string>(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('close', (status, signal) => resolve(status ?? signal ?? 'ended'))
    })
    forget()
    log.end()
    await finished(log)
    return ended
  })
  const seconds = (performance.now() - started) / 1000
  const output = await readFile(path, 'utf8')
  options.print(`\n──── ${stage.title}\n${output}`)
  if (code !== 0) options.progress.note(`${stage.title} FAILED (${code}); its output is above and in ${path}`)
  return { code, seconds, output, record: await readRecord(recordPath) }
}

/**
 * A signal that ends this process ends the stage first, also when only this process gets it: a terminal's Ctrl-C reaches both.
 * Call the result when the stage has ended.
 */
function endWithRun(child: ChildProcess): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const forget = (): void => {
    for (const signal of signals) process.off(signal, end)
  }
  const end = (signal: NodeJS.Signals): void => {
    // The signal that is sent to this process again must meet no listener of this stage.
    forget()
    child.once('close', () => process.kill(process.pid, signal))
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, end)
  return forget
}

function stageFile({ title }: Stage, { logFolder }: StageOptions, ending: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
  return join(logFolder, `${name}.${ending}`)
}

async function readRecord(path: string): Promise<RunRecord | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RunRecord
  } catch {
    return undefined
  }
}
