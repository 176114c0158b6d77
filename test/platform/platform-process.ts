// One process of the platform under test, which answers questions of its parent by a reporter inside it. It can be killed as
// a crash does it, and starts again as the kubelet would start it. It is stopped with SIGTERM, and killed when that is not
// enough.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { Variables } from './process-plans.ts'

export type PlatformProcess = {
  /** Such as `standalone`, or `broker 1` for the second replica. */
  readonly name: string
  /** Of the present process. */
  readonly pid: () => number
  readonly healthUrl: string
  readonly logFile: string
  /** What the reporter answers. Rejects when the process ends meanwhile. */
  readonly ask: <T>(question: unknown) => Promise<T>
  /** False from the beginning of `replace` until it resolves: what is asked of the process may fail then. */
  readonly isUp: () => boolean
  /** How it ended, when nobody asked for that. */
  readonly ended: () => string | undefined
  readonly isReady: () => Promise<boolean>
  /** Resolves when it is ready; rejects when it ends before. */
  readonly untilReady: () => Promise<unknown>
  /** Ends the process by this signal and starts another; resolves when that is ready. */
  readonly replace: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
  readonly stop: () => Promise<void>
}

export type ProcessOptions = {
  readonly name: string
  /** The program, its arguments, and where it runs. */
  readonly command: readonly [string, ...string[]]
  readonly folder: string
  readonly environment: Variables
  readonly healthPort: number
  /** Is appended to. */
  readonly logFile: string
}

const reportMilliseconds = 60_000
const readyMilliseconds = 90_000
const stopMilliseconds = 40_000

/** What is running: replaced as a whole. */
type Running = { readonly child: ChildProcess; readonly closed: Promise<string>; how: string | undefined }

export async function startPlatformProcess(options: ProcessOptions): Promise<PlatformProcess> {
  const { name, healthPort, logFile } = options
  const healthUrl = `http://127.0.0.1:${healthPort}`
  let running = await launch(options)
  let up = true
  const ended = (): string | undefined =>
    running.how === undefined ? undefined : `${name} ended (${running.how}); its log is ${logFile}`
  const isReady = async (): Promise<boolean> => (await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) })).ok
  const untilReady = (): Promise<unknown> =>
    waitUntil(`${name} to be ready`, async () => (await isReady()) || undefined, {
      timeoutMilliseconds: readyMilliseconds,
      hopeless: async () => ended(),
    })
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const { child, closed, how } = running
    if (how === undefined) child.kill(signal)
    const patience = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
    await closed
    clearTimeout(patience)
  }
  return {
    name,
    pid: () => running.child.pid ?? 0,
    healthUrl,
    logFile,
    isUp: () => up,
    ended: () => (up ? ended() : undefined),
    isReady,
    untilReady,
    async ask<T>(question: unknown) {
      const { child, closed } = running
      const gone = new AbortController()
      void closed.then(how => gone.abort(new Error(`${name} ended (${how})`)))
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(reportMilliseconds)])
      const answer = once(child, 'message', { signal })
      // A failure to send means that it is ending, which rejects the answer.
      child.send(question as object, () => undefined)
      const [answered] = (await answer) as [T]
      return answered
    },
    async replace(signal) {
      const before = ended()
      if (before !== undefined) throw new Error(before)
      up = false
      await end(signal)
      running = await launch(options)
      await untilReady()
      up = true
    },
    stop: () => end('SIGTERM'),
  }
}

async function launch({ command: [program, ...rest], folder, environment, logFile }: ProcessOptions): Promise<Running> {
  const log = await open(logFile, 'a', 0o600)
  const child = spawn(program, rest, { cwd: folder, env: environment, stdio: ['ignore', log.fd, log.fd, 'ipc'] })
  await log.close()
  const closing = Promise.withResolvers<string>()
  const running: Running = { child, closed: closing.promise, how: undefined }
  child.once('close', (code, signal) => {
    running.how = signal ?? `exit code ${code}`
    closing.resolve(running.how)
  })
  return running
}
