// The logs of all pods of an Application as they are written: pods that start later are read from their beginning, a container
// that restarts is read again, and what it wrote just before it ended is not lost.
import type { ContainerStatus, Pod } from '../../../api/builtin/core.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isExpired, isKubeError } from '../../../kube/client/errors.ts'
import { pods, processOf } from '../application/pods.ts'
import { containerLog, type LogReading } from './container-log.ts'
import type { LogLine, LogSource } from './log-line.ts'

export type Following = LogReading & {
  readonly client: Pick<KubeClient, 'podLogStream' | 'snapshot' | 'watch'>
  readonly labelSelector: string
  /** How much of what was written before is shown. */
  readonly tailLines: number | undefined
  readonly sinceTime: string | undefined
  readonly onLine: (line: LogLine) => void
  readonly onNotice: (text: string) => void
}

const retryMilliseconds = 1000

type Run = { readonly source: LogSource; readonly key: string; readonly previous: boolean }

/** Never resolves; rejects with the reason of the signal, or when the API server refuses to list or watch the pods. */
export async function followLogs(following: Following): Promise<never> {
  const { clock, signal } = following
  const readers = createReaders(following)
  let version: string | undefined
  for (;;) {
    try {
      version = version === undefined ? await observeAll(following, readers) : await observeChanges(following, readers, version)
    } catch (error) {
      signal.throwIfAborted()
      if (!isKubeError(error) || !(error.retryable || isExpired(error))) throw error
      version = undefined
      await clock.sleep(retryMilliseconds, signal)
    }
  }
}

type Readers = ReturnType<typeof createReaders>

async function observeAll({ client, namespace, labelSelector, signal }: Following, readers: Readers): Promise<string> {
  const snapshot = await client.snapshot(pods, { namespace, labelSelector, signal })
  for (const pod of snapshot.items) readers.observe(pod)
  readers.began()
  return snapshot.resourceVersion
}

/** One watch connection. Resolves with the version from which the next one goes on. */
async function observeChanges(following: Following, readers: Readers, from: string): Promise<string> {
  const { client, namespace, labelSelector, signal } = following
  let version = from
  for await (const event of client.watch(pods, { namespace, labelSelector, resourceVersion: from, signal })) {
    version = event.resourceVersion
    if (event.type === 'DELETED') readers.forget(event.object)
    else if (event.type !== 'BOOKMARK') readers.observe(event.object)
  }
  return version
}

/** Starts one reader for each run of each container. */
function createReaders(following: Following) {
  const { onLine, onNotice, signal } = following
  const begun = new Set<string>()
  const latest = new Map<string, Pod>()
  let initial = true

  async function read(pod: Pod, run: Run, fromTail: boolean): Promise<void> {
    const uid = pod.metadata.uid ?? ''
    const stillRuns = (): boolean => runsOf(latest.get(uid)).some(({ key, running }) => key === run.key && running)
    const start = fromTail ? { tailLines: following.tailLines, sinceTime: following.sinceTime } : {}
    try {
      const range = { ...start, follow: !run.previous, previous: run.previous, stillRuns }
      for await (const line of containerLog(following, run.source, range)) onLine(line)
    } catch (error) {
      if (signal.aborted || hasNoLog(error)) return
      onNotice(`the log of ${run.source.pod} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  return {
    observe(pod: Pod): void {
      latest.set(pod.metadata.uid ?? '', pod)
      for (const run of runsOf(pod)) {
        if (begun.has(run.key) || (run.previous && initial)) continue
        begun.add(run.key)
        void read(pod, run, initial)
      }
    },
    forget(pod: Pod): void {
      const uid = pod.metadata.uid ?? ''
      latest.delete(uid)
      for (const key of begun) if (key.startsWith(`${uid}/`)) begun.delete(key)
    },
    began(): void {
      initial = false
    },
  }
}

/** The pod is gone, its log was removed with its container, or there never was one. */
export function hasNoLog(error: unknown): boolean {
  return isKubeError(error, 404) || isKubeError(error, 400)
}

/** The runs of the pod's containers whose logs exist: the present one, and the one before it. */
export function runsOf(pod: Pod | undefined): readonly (Run & { readonly running: boolean })[] {
  if (pod === undefined) return []
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  return statuses.flatMap(status => containerRuns(pod, status))
}

function containerRuns(pod: Pod, { name, restartCount, state, lastState }: ContainerStatus) {
  const source: LogSource = { process: processOf(pod), pod: pod.metadata.name, container: name }
  const key = (run: number): string => `${pod.metadata.uid ?? ''}/${name}/${run}`
  const running = state?.running !== undefined
  const before =
    restartCount > 0 && lastState?.terminated !== undefined
      ? [{ source, key: key(restartCount - 1), previous: true, running: false }]
      : []
  const present = running || state?.terminated !== undefined ? [{ source, key: key(restartCount), previous: false, running }] : []
  return [...before, ...present]
}
