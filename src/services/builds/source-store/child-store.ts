// Starts the process of the source store as a child, for a platform without the container `sources`: a developer's machine and
// tests. The child has an empty environment and the limits of its container, but the user and the files of its parent: a
// container of its own separates more.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'

/** Tells the process that it is a child and ends with its parent. */
export const childArgument = '--end-with-parent'

export type ChildStore = {
  /**
   * Resolves when the child takes orders; from then on it is started again whenever it ends. Rejects when it does not start in
   * time.
   */
  readonly start: () => Promise<void>
  /** May be called before `start`. */
  readonly stop: () => Promise<void>
}

export type ChildStoreDeps = {
  readonly socket: string
  readonly folder: string
  readonly port: number
  readonly megabytes: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Pick<Log, 'error'>
}

const startMilliseconds = 30_000
const restartMilliseconds = 500
const heapMegabytes = 128

function takesOrders(socket: string): Promise<boolean> {
  return new Promise(resolve => {
    const connection = connect(socket)
    connection.once('connect', () => resolve(true)).once('error', () => resolve(false))
    connection.once('connect', () => connection.destroy())
  })
}

/** Starts nothing before `start`. */
export function createChildStore({ socket, folder, port, megabytes, clock, log }: ChildStoreDeps): ChildStore {
  let child: ChildProcess | undefined
  let running: Promise<void> | undefined
  const stopping = new AbortController()

  function spawnChild(): ChildProcess {
    const program = fileURLToPath(new URL('./main.ts', import.meta.url))
    return spawn(process.execPath, [`--max-old-space-size=${heapMegabytes}`, program, childArgument], {
      env: {
        SEKISHO_SOURCE_SOCKET: socket,
        SEKISHO_SOURCE_FOLDER: folder,
        SEKISHO_SOURCE_PORT: String(port),
        SEKISHO_SOURCE_MEGABYTES: String(megabytes),
        SEKISHO_LOG_LEVEL: 'error',
      },
      // The pipe is the sign of life of the parent.
      stdio: ['pipe', 'inherit', 'inherit'],
    })
  }

  async function keepRunning(): Promise<void> {
    while (!stopping.signal.aborted) {
      child = spawnChild()
      const [code, signal] = await once(child, 'exit')
      if (stopping.signal.aborted) return
      log.error({ code, signal }, 'the source store ended: it is started again')
      await clock.sleep(restartMilliseconds, stopping.signal).catch(() => undefined)
    }
  }

  async function whenReady(): Promise<void> {
    const late = AbortSignal.timeout(startMilliseconds)
    while (!(await takesOrders(socket))) {
      if (stopping.signal.aborted) return
      if (late.aborted) throw new AppError('unavailable', `the source store did not start within ${startMilliseconds / 1000} s`)
      await clock.sleep(20, stopping.signal).catch(() => undefined)
    }
  }

  return {
    async start() {
      // Of the child of a parent that was killed: it ends by itself, and must not be taken for the new one.
      if (!running) await rm(socket, { force: true })
      running ??= keepRunning()
      await whenReady()
    },
    async stop() {
      stopping.abort('stopped')
      child?.kill('SIGKILL')
      await running
    },
  }
}
