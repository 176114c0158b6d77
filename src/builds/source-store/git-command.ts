// Runs git isolated from the host: no system or user configuration, no prompt, no inherited environment, a time limit, bounded output.
// Configuration goes through GIT_CONFIG_* variables of the process, so that a credential in it is never in an argument or on disk.
// Source: https://git-scm.com/docs/git#_environment_variables , https://git-scm.com/docs/git-config#ENVIRONMENT
import { type ChildProcess, spawn } from 'node:child_process'
import { AppError } from '../../lib/errors.ts'
import { redactTokens } from '../../lib/log.ts'

export type GitConfiguration = readonly (readonly [name: string, value: string])[]

export type GitRun = {
  readonly folder: string
  readonly arguments: readonly string[]
  readonly configuration?: GitConfiguration
  readonly timeoutMilliseconds: number
  readonly signal?: AbortSignal
  /** Aborting it kills git, and the run rejects with the abort reason: for limits that the caller checks. */
  readonly limit?: AbortSignal
}

export type GitResult = { readonly code: number; readonly output: string; readonly errors: string }

const longestOutput = 4_194_304
const longestErrors = 16_384

/** The whole environment of a git process: nothing of this process's own environment is in it. */
export function gitEnvironment(configuration: GitConfiguration): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_CONFIG_COUNT: String(configuration.length),
  }
  configuration.forEach(([name, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = name
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return environment
}

/** Kills the process group: git starts helpers (git-remote-https, index-pack). Idempotent. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/** Resolves whatever git's exit code is; rejects on a timeout (`unavailable`), on abort, on too much output and when git cannot be started. */
export function runGit(run: GitRun): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', run.arguments, {
      cwd: run.folder,
      env: gitEnvironment(run.configuration ?? []),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    let errors = ''
    let failure: unknown
    const stop = (reason: unknown): void => {
      failure ??= reason
      killGroup(child)
    }
    const timer = setTimeout(
      () => stop(new AppError('unavailable', `git did not finish within ${run.timeoutMilliseconds / 1000} s`)),
      run.timeoutMilliseconds,
    )
    const signals = [run.signal, run.limit].filter(signal => signal !== undefined)
    const onAbort = (): void => stop(signals.find(signal => signal.aborted)?.reason)
    for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true })
    if (signals.some(signal => signal.aborted)) onAbort()
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > longestOutput)
        stop(new AppError('payload_too_large', `git wrote more than ${longestOutput} characters`))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-longestErrors)
    })
    const settle = (finish: () => void): void => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
      finish()
    }
    child.once('error', cause =>
      settle(() => reject(new AppError('unavailable', 'git cannot be started: is it installed?', { cause }))),
    )
    child.once('close', code =>
      settle(() =>
        failure === undefined ? resolve({ code: code ?? -1, output, errors: redactTokens(errors) }) : reject(failure),
      ),
    )
  })
}

/** The last line that git wrote to standard error, bounded for a message. */
export function lastErrorLine(errors: string): string {
  const lines = errors.split(/[\r\n]+/).filter(line => line.trim() !== '')
  return (lines.at(-1) ?? 'git gave no reason').slice(0, 300)
}
