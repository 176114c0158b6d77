// Runs a program to its end and returns its output, bounded in time and size.
// It never uses a shell. A secret must never be an argument.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { AppError } from '../../src/lib/errors.ts'
import { toolEnvironment } from './settings.ts'

/** An account of this machine. Only root can run programs as another one. */
export type Account = { readonly uid: number; readonly gid: number }

export type CommandOptions = {
  readonly folder?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
  readonly timeoutMilliseconds?: number
  /** The account to run as; ours when absent. */
  readonly account?: Account
}

export type CommandResult = { readonly code: number; readonly output: string; readonly errorOutput: string }

/** For downloads and installations, which take as long as the network takes. */
export const maxFetchMilliseconds = 600_000

const maxOutput = 16 * 1024 * 1024
const shownErrorOutput = 2000

/** Runs to the end whatever the exit code; throws only when the program fails to start or exceeds its time or output. */
export async function tryCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const timeout = options.timeoutMilliseconds ?? 60_000
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.folder,
      ...options.account,
      env: toolEnvironment(options.environment),
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout,
      killSignal: 'SIGKILL',
    })
    const output: Buffer[] = []
    const errorOutput: Buffer[] = []
    let size = 0
    const started = Date.now()
    const whyStopped = (): string =>
      size > maxOutput
        ? `wrote more than ${maxOutput / 1024 / 1024} MiB`
        : Date.now() - started >= timeout
          ? `did not end within ${timeout / 1000} s; run it again when the machine is less busy`
          : 'was killed by another process'
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxOutput) into.push(chunk)
      else child.kill('SIGKILL')
    }
    child.stdout.on('data', collect(output))
    child.stderr.on('data', collect(errorOutput))
    child.stdin.on('error', () => child.stdin.destroy()) // the program may end without reading
    child.stdin.end(options.input ?? '')
    child.on('error', cause => reject(new AppError('unavailable', whyNotStarted(program, cause, options.folder), { cause })))
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') reject(new AppError('unavailable', `${program} ${args[0] ?? ''} ${whyStopped()}`))
      else
        resolve({ code: code ?? 1, output: Buffer.concat(output).toString(), errorOutput: Buffer.concat(errorOutput).toString() })
    })
  })
}

/** Of a missing folder to start it in Node.js says the same as of a missing program. */
function whyNotStarted(program: string, cause: NodeJS.ErrnoException, folder: string | undefined): string {
  if (cause.code !== 'ENOENT') return `${program} failed to start: ${cause.message}`
  if (folder !== undefined && !existsSync(folder)) return `${program} failed to start: the folder ${folder} does not exist`
  return `${program} is not installed; make doctor shows what this machine lacks, and how to install it`
}

/** `runCommand` as an argument, so that tests can count and answer calls. */
export type RunCommand = typeof runCommand

/** Runs a program that must succeed; resolves to its standard output. */
export async function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryCommand(program, args, options)
  if (result.code !== 0) {
    const said = result.errorOutput.trim().slice(-shownErrorOutput)
    throw new AppError('internal', `${program} ${args[0] ?? ''} failed with exit code ${result.code}: ${said}`)
  }
  return result.output
}
