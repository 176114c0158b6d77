// A measured program as a child process that is controlled by lines of JSON: a command on its standard input, one answer on its
// standard output. Our programs and the peers use the same protocol, so that the harness treats them alike. Standard error is
// kept for error messages. The child ends with `stop` and with this process (its standard input closes); it must never outlive
// a bench.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { toolEnvironment } from '../../../dev/cluster/settings.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

export type ProgramOptions = {
  readonly name: string
  readonly path: string
  readonly args?: readonly string[]
  /** In addition to PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>
  /** Pins it to this processor where `taskset` exists and the machine has more than one. */
  readonly processor?: number
}

/**
 * What Node.js gets where the platform runs (NODE_OPTIONS and the commands of the forms, docs/adr/0055), for our side. The
 * default semi-space of a large machine is eight times that.
 */
export const platformNodeOptions: readonly string[] = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring']

type Json = Readonly<Record<string, unknown>>

export type MeasuredProgram = {
  readonly pid: number
  /**
   * Sends a command and resolves to its answer; commands are answered in order. Rejects when the program ends or answers
   * `{error}`.
   */
  readonly call: (command: Json, signal?: AbortSignal) => Promise<Json>
  readonly usage: () => Promise<ProcessUsage>
  /** Why it has ended, with the end of its error output; undefined while it runs. */
  readonly problem: () => string | undefined
  readonly stop: () => Promise<void>
}

// First its standard input is closed, so that it can end by itself and write a profile.
const endMilliseconds = 2000
const stopMilliseconds = 10_000
const keptErrorOutput = 4000

/** Starts the program and waits for its first line, `{"ready":true}`. */
export async function startProgram(options: ProgramOptions, signal?: AbortSignal): Promise<MeasuredProgram> {
  const child = spawnPinned(options)
  const waiting: { resolve: (answer: Json) => void; reject: (error: Error) => void }[] = []
  let errorOutput = ''
  let ended: Error | undefined
  const fail = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString('utf8')).slice(-keptErrorOutput)
  })
  child.stdin?.on('error', () => {}) // Reported by `close`.
  child.once('error', cause =>
    fail(new AppError('unavailable', `${options.name} cannot be started: ${cause.message}`, { cause })),
  )
  const gone = new Promise<void>(resolve => {
    child.once('close', (code, how) => {
      fail(new AppError('unavailable', `${options.name} ended with ${how ?? code}: ${errorOutput.trim()}`))
      resolve()
    })
  })
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', line => {
      const first = waiting.shift()
      try {
        const answer: unknown = JSON.parse(line)
        if (typeof answer !== 'object' || answer === null) throw new Error('not an object')
        if ('error' in answer) first?.reject(new AppError('upstream_failed', `${options.name}: ${String(answer.error)}`))
        else first?.resolve({ ...answer })
      } catch (cause) {
        first?.reject(new AppError('upstream_failed', `${options.name} answered no JSON: ${line.slice(0, 200)}`, { cause }))
      }
    })

  function answer(until?: AbortSignal): Promise<Json> {
    if (ended !== undefined) return Promise.reject(ended)
    until?.throwIfAborted()
    return new Promise<Json>((resolve, reject) => {
      const abort = (): void => fail(new AppError('unavailable', `${options.name} did not answer in time: ${errorOutput.trim()}`))
      until?.addEventListener('abort', abort, { once: true })
      const settled = (): void => until?.removeEventListener('abort', abort)
      waiting.push({
        resolve: value => {
          settled()
          resolve(value)
        },
        reject: error => {
          settled()
          reject(error)
        },
      })
    })
  }

  async function stop(): Promise<void> {
    child.stdin?.end()
    const terminate = setTimeout(() => child.kill('SIGTERM'), endMilliseconds)
    const kill = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
    await gone
    clearTimeout(terminate)
    clearTimeout(kill)
  }

  try {
    await answer(signal)
  } catch (error) {
    if (child.pid !== undefined) await stop()
    throw error
  }
  const pid = child.pid ?? 0
  return {
    pid,
    stop,
    usage: () => usageOf(pid),
    problem: () => ended?.message,
    call(command, until) {
      const answered = answer(until)
      child.stdin?.write(`${JSON.stringify(command)}\n`)
      return answered
    },
  }
}

function spawnPinned({ path, args = [], environment, processor }: ProgramOptions): ChildProcess {
  const [program, all] = processor === undefined ? [path, args] : ['taskset', ['-c', String(processor), path, ...args]]
  return spawn(program, all, { stdio: ['pipe', 'pipe', 'pipe'], env: toolEnvironment(environment) })
}
