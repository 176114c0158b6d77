// One process of the platform as it runs in its pod, with a reporter of its memory inside: it finds its ServiceAccount where the kubelet puts it, in a
// mount namespace of its own (a kubeconfig would load a library that pods do not). Stopped with SIGTERM, and killed when that is not enough.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { waitUntil } from '../../../dev/cluster/wait-until.ts'
import { usageOf } from '../harness/process-usage.ts'
import type { AppFolder } from './app-folder.ts'
import { anonymousBytesOfChildren, memoryOfProcess, type ProcessMemory } from './process-memory.ts'
import type { IsolateMemory, Question } from './reporter.ts'

export type MeasuredProcess = {
  readonly name: string
  /** As it is, with what no collection has freed yet. */
  readonly memory: () => Promise<ProcessMemory>
  /** What its child processes have for themselves. */
  readonly childrenBytes: () => Promise<number>
  /** Of each thread, as it is or just after a collection in the main thread. */
  readonly isolates: (question: Question) => Promise<readonly IsolateMemory[]>
  /** Resolves when it is ready, and rejects when it ends before. */
  readonly untilReady: () => Promise<void>
  /** Resolves when it has used little of a processor for some seconds. */
  readonly atRest: () => Promise<void>
  readonly stop: () => Promise<void>
}

export type ProcessOptions = {
  readonly name: string
  /** What follows `node`: options, and its program, such as src/standalone.ts. */
  readonly program: readonly string[]
  readonly app: AppFolder
  readonly environment: Readonly<Record<string, string>>
  /** Has the files `token` and `ca.crt` of a ServiceAccount. */
  readonly accountFolder: string
  readonly healthUrl: string
  readonly logFile: string
}

/** Mounts the account where pods have it, then becomes the program. An empty /run hides nothing that the platform uses. */
const asInPod = 'mount -t tmpfs none /run && mkdir -p "$0" && mount --bind "$1" "$0" && shift && exec "$@"'
const serviceAccountFolder = '/run/secrets/kubernetes.io/serviceaccount'
const answerMilliseconds = 60_000
const readyMilliseconds = 90_000
const stopMilliseconds = 40_000
const rest = { share: 0.05, seconds: 5, longestSeconds: 180 }

export async function startMeasuredProcess(options: ProcessOptions): Promise<MeasuredProcess> {
  const { name, program, app, environment, accountFolder, healthUrl, logFile } = options
  const log = await open(logFile, 'w', 0o600)
  const command = [process.execPath, '--expose-gc', '--import', app.reporter, ...program]
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
  const child: ChildProcess = spawn(
    'unshare',
    [...namespace, 'sh', '-c', asInPod, serviceAccountFolder, accountFolder, ...command],
    {
      cwd: app.folder,
      env: environment,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    },
  )
  let how: string | undefined
  const closed = new Promise<void>(resolve => {
    child.once('close', (code, signal) => {
      how = `${name} ended (${signal ?? `exit code ${code}`}); its log is ${logFile}`
      resolve()
    })
  })
  const pid = child.pid ?? 0
  return {
    name,
    memory: () => memoryOfProcess(pid),
    childrenBytes: () => anonymousBytesOfChildren(pid),
    async isolates(question) {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(answerMilliseconds) })
      child.send(question)
      const [isolates] = (await answer) as [readonly IsolateMemory[]]
      return isolates
    },
    async untilReady() {
      const check = async (): Promise<true | undefined> => {
        const answer = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) })
        return answer.ok || undefined
      }
      await waitUntil(`${name} to be ready`, check, { timeoutMilliseconds: readyMilliseconds, hopeless: async () => how })
    },
    async atRest() {
      let since = await usageOf(pid)
      const check = async (): Promise<true | undefined> => {
        const before = since
        since = await usageOf(pid)
        return since.cpuSeconds - before.cpuSeconds <= rest.share * rest.seconds || undefined
      }
      await waitUntil(`${name} to be at rest`, check, {
        timeoutMilliseconds: rest.longestSeconds * 1000,
        everyMilliseconds: rest.seconds * 1000,
        hopeless: async () => how,
      })
    },
    async stop() {
      if (how === undefined) child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
      await closed
      clearTimeout(patience)
      await log.close()
    },
  }
}
