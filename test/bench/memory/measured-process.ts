// One process of the platform as it runs in its pod, with a reporter of its memory inside: it finds its ServiceAccount where
// the kubelet puts it, in a mount namespace of its own (a kubeconfig would load a library that pods do not).
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type PlatformProcess, type ProcessOptions, startPlatformProcess } from '../../platform/platform-process.ts'
import { usageOf } from '../harness/process-usage.ts'
import type { AppFolder } from './app-folder.ts'
import { anonymousBytesOfChildren, memoryOfProcess, type ProcessMemory } from './process-memory.ts'
import type { IsolateMemory, Question } from './reporter.ts'

export type MeasuredProcess = Pick<PlatformProcess, 'name' | 'healthUrl' | 'untilReady' | 'stop'> & {
  /** As it is, with what no collection has freed yet. */
  readonly memory: () => Promise<ProcessMemory>
  /** What its child processes have for themselves. */
  readonly childrenBytes: () => Promise<number>
  /** Of each thread, as it is or just after a collection in the main thread. */
  readonly isolates: (question: Question) => Promise<readonly IsolateMemory[]>
  /** Resolves when it has used little of a processor for some seconds. */
  readonly atRest: () => Promise<void>
}

type Options = Omit<ProcessOptions, 'command' | 'folder'> & {
  /** What follows `node`: options, and its program, such as src/standalone.ts. */
  readonly program: readonly string[]
  readonly app: AppFolder
  /** Has the files `token` and `ca.crt` of a ServiceAccount. */
  readonly accountFolder: string
}

/** Mounts the account where pods have it, then becomes the program. An empty /run hides nothing that the platform uses. */
const asInPod = 'mount -t tmpfs none /run && mkdir -p "$0" && mount --bind "$1" "$0" && shift && exec "$@"'
const serviceAccountFolder = '/run/secrets/kubernetes.io/serviceaccount'
const rest = { share: 0.05, seconds: 5, maxSeconds: 180 }

export async function startMeasuredProcess({ program, app, accountFolder, ...options }: Options): Promise<MeasuredProcess> {
  const node = [process.execPath, '--expose-gc', '--import', app.reporter, ...program]
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
  const command = ['unshare', ...namespace, 'sh', '-c', asInPod, serviceAccountFolder, accountFolder, ...node] as const
  const { name, healthUrl, pid, ask, ended, untilReady, stop } = await startPlatformProcess({
    ...options,
    folder: app.folder,
    command,
  })
  return {
    ...{ name, healthUrl, untilReady, stop },
    memory: () => memoryOfProcess(pid()),
    childrenBytes: () => anonymousBytesOfChildren(pid()),
    isolates: question => ask(question),
    async atRest() {
      let since = await usageOf(pid())
      const check = async (): Promise<true | undefined> => {
        const before = since
        since = await usageOf(pid())
        return since.cpuSeconds - before.cpuSeconds <= rest.share * rest.seconds || undefined
      }
      await waitUntil(`${name} to be at rest`, check, {
        timeoutMilliseconds: rest.maxSeconds * 1000,
        everyMilliseconds: rest.seconds * 1000,
        hopeless: async () => ended(),
      })
    },
  }
}
