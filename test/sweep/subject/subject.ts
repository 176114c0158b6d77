// A child process that can be started and stopped several times and killed at any time. A spare process loads its modules in
// advance, so that a restart after a kill takes as long as a restart does, not as long as loading.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Component, FromSubject, RunSettings, ToSubject } from './messages.ts'
import { packSubject } from './pack.ts'

export type Subject = {
  readonly component: Component
  /** Rejects with the end of the log if the component cannot start. */
  readonly start: (settings: RunSettings) => Promise<void>
  /** Stops the component in an orderly way; the process can be started again. */
  readonly stop: () => Promise<void>
  /** Sends SIGKILL at once. */
  readonly kill: () => void
  readonly gone: Promise<void>
  readonly alive: () => boolean
  /** The last lines of its log. */
  readonly log: () => string
}

export type Subjects = {
  readonly take: (component: Component) => Promise<Subject>
  readonly stop: () => Promise<void>
}

const keptCharacters = 4000

type Program = {
  readonly path: string
  /** Each process reads what the previous one compiled: loading takes half the time. */
  readonly compileCache: string
}

function createSubject({ path, compileCache }: Program, component: Component): Subject & { readonly loaded: Promise<void> } {
  const child: ChildProcess = fork(path, [component], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], NODE_COMPILE_CACHE: compileCache },
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString('utf8')).slice(-keptCharacters)
    })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))

  function received(kind: FromSubject['kind']): Promise<void> {
    return new Promise((resolve, reject) => {
      const listen = (message: FromSubject): void => {
        if (message.kind !== kind && message.kind !== 'failed') return
        child.off('message', listen)
        if (message.kind === 'failed') reject(new Error(`the process under test failed: ${message.message}\n${log}`))
        else resolve()
      }
      child.on('message', listen)
      // A process that was killed on purpose never answers; its killer does not wait for this promise.
      void gone.then(() => reject(new Error(`the process under test ended before it was ${kind}\n${log}`)))
    })
  }
  const send = (message: ToSubject): void => {
    if (child.connected) child.send(message)
  }
  return {
    component,
    loaded: received('loaded'),
    async start(settings) {
      log = ''
      const started = received('started')
      send({ kind: 'start', settings })
      await started
    },
    async stop() {
      const stopped = received('stopped')
      send({ kind: 'stop' })
      await stopped
    },
    kill: () => void child.kill('SIGKILL'),
    gone,
    alive: () => child.exitCode === null && child.signalCode === null,
    log: () => log,
  }
}

/** `folder` belongs to the processes: the bundle and the compile cache are written there. */
export async function createSubjects(folder: string): Promise<Subjects> {
  const program = { path: await packSubject(folder), compileCache: join(folder, 'compiled') }
  const all = new Set<Subject>()
  const spares = new Map<Component, ReturnType<typeof createSubject>>()
  const make = (component: Component): ReturnType<typeof createSubject> => {
    const subject = createSubject(program, component)
    all.add(subject)
    void subject.gone.then(() => all.delete(subject))
    subject.loaded.catch(() => {})
    return subject
  }
  return {
    async take(component) {
      const taken = spares.get(component) ?? make(component)
      spares.set(component, make(component))
      await taken.loaded
      return taken
    },
    async stop() {
      for (const subject of all) subject.kill()
      await Promise.all([...all].map(subject => subject.gone))
    },
  }
}
