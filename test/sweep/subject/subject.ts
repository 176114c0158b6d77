// One child process that can be given lives and be killed in the middle of one. A spare one loads its modules ahead, so that what comes after
// a kill takes as long as a restart takes, not as long as loading does.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Component, FromSubject, Life, ToSubject } from './messages.ts'
import { packSubject } from './pack.ts'

export type Subject = {
  readonly component: Component
  /** Rejects with the end of the log when the life cannot begin. */
  readonly begin: (life: Life) => Promise<void>
  /** Ends the life in order; the process can be given another one. */
  readonly end: () => Promise<void>
  /** SIGKILL, now. */
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
  /** What one process compiled the next one reads: loading takes half the time. */
  readonly compileCache: string
}

function createSubject({ path, compileCache }: Program, component: Component): Subject & { readonly loaded: Promise<void> } {
  const child: ChildProcess = fork(path, [component], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache },
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString('utf8')).slice(-keptCharacters)
    })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))

  function heard(kind: FromSubject['kind']): Promise<void> {
    return new Promise((resolve, reject) => {
      const listen = (message: FromSubject): void => {
        if (message.kind !== kind && message.kind !== 'failed') return
        child.off('message', listen)
        if (message.kind === 'failed') reject(new Error(`the process under test failed: ${message.message}\n${log}`))
        else resolve()
      }
      child.on('message', listen)
      // A process that was killed on purpose never answers: whoever killed it does not wait for this.
      void gone.then(() => reject(new Error(`the process under test ended before it was ${kind}\n${log}`)))
    })
  }
  const tell = (message: ToSubject): void => {
    if (child.connected) child.send(message)
  }
  return {
    component,
    loaded: heard('loaded'),
    async begin(life) {
      log = ''
      const begun = heard('begun')
      tell({ kind: 'begin', life })
      await begun
    },
    async end() {
      const ended = heard('ended')
      tell({ kind: 'end' })
      await ended
    },
    kill: () => void child.kill('SIGKILL'),
    gone,
    alive: () => child.exitCode === null && child.signalCode === null,
    log: () => log,
  }
}

/** `folder` is theirs: the packed program is written there. */
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
