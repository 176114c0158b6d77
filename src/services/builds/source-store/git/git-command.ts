// Runs one git process to its end: under its limits, with what it reads and writes as streams, and with a time after which its
// whole process group is killed. It never interprets what git says.
import { type ChildProcess, spawn } from 'node:child_process'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../../lib/errors.ts'
import { redactedTail } from '../../../../lib/log.ts'
import { gitEnvironment, limitedGit } from './git-environment.ts'

export type GitRun = {
  /** The bare repository. */
  readonly folder: string
  readonly arguments: readonly string[]
  readonly timeoutMilliseconds: number
  /** The largest file that git may write; nothing when absent. */
  readonly fileBytes?: number
  /** What git reads on its standard input; nothing when absent. Its error ends git and rejects the run. */
  readonly input?: AsyncIterable<Uint8Array>
  /** Called with what git writes, piece by piece. What it throws ends git and rejects the run. */
  readonly onOutput?: (piece: Buffer) => void
  readonly signal?: AbortSignal
}

export type GitResult = {
  /** undefined when git ended by a signal. */
  readonly code: number | undefined
  readonly signal: NodeJS.Signals | undefined
  /** The end of what git wrote to standard error. */
  readonly errors: string
}

const maxErrors = 16_384

/** Kills the process group: git starts helpers (pack-objects, rev-list). Idempotent. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/** git closes its input as soon as it fails; its exit code and its errors say why, not the broken pipe. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_PREMATURE_CLOSE')
}

/**
 * Resolves however git ends by itself. Rejects on a timeout (`unavailable`), with the reason of `signal`, with what `input` or
 * `onOutput` throws, and when git cannot be started.
 */
export async function runGit(run: GitRun): Promise<GitResult> {
  const [program, words] = limitedGit([`--git-dir=${run.folder}`, ...run.arguments], run.fileBytes ?? 0)
  const child = spawn(program, words, {
    cwd: run.folder,
    env: gitEnvironment([]),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let errors = ''
  let failure: { readonly reason: unknown } | undefined
  const stop = (reason: unknown): void => {
    failure ??= { reason }
    killGroup(child)
  }
  const seconds = run.timeoutMilliseconds / 1000
  const timer = setTimeout(
    () => stop(new AppError('unavailable', `git did not finish within ${seconds} s`)),
    run.timeoutMilliseconds,
  )
  const onAbort = (): void => stop(run.signal?.reason)
  run.signal?.addEventListener('abort', onAbort, { once: true })
  if (run.signal?.aborted) onAbort()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-maxErrors - 1)
  })
  child.stdout.on('data', (piece: Buffer) => {
    try {
      run.onOutput?.(piece)
    } catch (error) {
      stop(error)
    }
  })
  const ended = new Promise<Pick<GitResult, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', cause =>
      reject(new AppError('unavailable', 'git cannot be started: are git and prlimit (util-linux) installed?', { cause })),
    )
    child.once('close', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }))
  })
  // Not awaited: git may end before its input does, and whoever sends the input may be slow.
  pipeline(run.input ?? [], child.stdin).catch((error: unknown) => {
    if (!isClosedPipe(error)) stop(error)
  })
  try {
    const end = await ended
    if (failure !== undefined) throw failure.reason
    return { ...end, errors: redactedTail(errors, maxErrors) }
  } finally {
    clearTimeout(timer)
    run.signal?.removeEventListener('abort', onAbort)
  }
}

/** The last line that git wrote to standard error, bounded for a message. */
export function lastErrorLine(errors: string): string {
  const lines = errors.split(/[\r\n]+/).filter(line => line.trim() !== '')
  return (lines.at(-1) ?? 'git gave no reason').slice(0, 300)
}
