// One measured program as a child process that is asked by lines of JSON: a question on its standard input, one answer on its standard
// output. Ours and the peers speak the same, so that the harness treats them alike. What it writes to standard error is kept for errors.
// The child ends with `stop` and with this process (its standard input closes); it must never outlive a bench.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { toolEnvironment } from '../../../dev/cluster/settings.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

export type ProgramOptions = {
  readonly name: string
  readonly path: string
  readonly args?: readonly string[]
  /** Beside PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>
  /** Pins it to this processor where `taskset` exists and the machine has more than one. */
  readonly processor?: number
}

type Json = Readonly<Record<string, unknown>>

export type MeasuredProgram = {
  readonly pid: number
  /** Sends one question and resolves to its answer; questions are answered in order. Rejects when the program ends or says `{error}`. */
  readonly ask: (question: Json, signal?: AbortSignal) => Promise<Json>
  readonly usage: () => Promise<ProcessUsage>
  /** Why it is no more, with its last words; undefined while it runs. */
  readonly problem: () => string | undefined
  readonly stop: () => Promise<void>
}

// The end of its standard input is the polite way; it may write a profile then.
const endMilliseconds = 2000
const stopMilliseconds = 10_000
const keptErrorOutput = 4000

/** Starts it and waits for its first line, which says `{"ready":true}`. */
export async function startProgram(options: ProgramOptions, signal?: AbortSignal): Promise<MeasuredProgram> {
  const child = spawnPinned(options)
  const waiting: { resolve: (answer: Json) => void; reject: (error: Error) => void }[] = []
  let said = ''
  let ended: Error | undefined
  const fail = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-keptErrorOutput)
  })
  child.stdin?.on('error', () => {}) // told by `exit`
  child.once('error', cause =>
    fail(new AppError('unavailable', `${options.name} cannot be started: ${cause.message}`, { cause })),
  )
  const gone = new Promise<void>(resolve => {
    child.once('close', (code, how) => {
      fail(new AppError('unavailable', `${options.name} ended with ${how ?? code}: ${said.trim()}`))
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
      const abort = (): void => fail(new AppError('unavailable', `${options.name} did not answer in time: ${said.trim()}`))
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
    const ask = setTimeout(() => child.kill('SIGTERM'), endMilliseconds)
    const insist = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
    await gone
    clearTimeout(ask)
    clearTimeout(insist)
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
    ask(question, until) {
      const answered = answer(until)
      child.stdin?.write(`${JSON.stringify(question)}\n`)
      return answered
    },
  }
}

function spawnPinned({ path, args = [], environment, processor }: ProgramOptions): ChildProcess {
  const [program, all] = processor === undefined ? [path, args] : ['taskset', ['-c', String(processor), path, ...args]]
  return spawn(program, all, { stdio: ['pipe', 'pipe', 'pipe'], env: toolEnvironment(environment) })
}
