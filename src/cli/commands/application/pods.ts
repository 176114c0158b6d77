// The pods of an Application as people see them: which process, in which state, since when. Pure, except for the list.
import type { ContainerStatus, Pod } from '../../../api/builtin/core.ts'
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import { labels } from '../../../api/names.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'

export const pods = namespacedKind<Pod>('v1', 'Pod', 'pods')

/** The selector of the pods of an Application, or of one process. */
export function podSelector(application: string, process?: string): string {
  const own = `${labels.application}=${application}`
  return process === undefined ? own : `${own},${labels.process}=${process}`
}

/** Oldest process first by name, then by pod. */
export async function podsOf({ client, namespace }: Cluster, application: string, process?: string): Promise<readonly Pod[]> {
  const all = await client.list(pods, { namespace, labelSelector: podSelector(application, process) })
  return [...all].sort((a, b) => sortKey(a).localeCompare(sortKey(b)))
}

function sortKey(pod: Pod): string {
  return `${processOf(pod)} ${pod.metadata.name}`
}

/** The name of its process; `(release)`, which no process can be called, for the release job, and `-` for any other pod. */
export function processOf({ metadata }: Pod): string {
  const own = metadata.labels ?? {}
  return own[labels.process] ?? (own[labels.release] === undefined ? '-' : '(release)')
}

/**
 * Whether it has done what it was started for, as the pods of the release job, of schedules and of single commands do; or
 * failed for good.
 */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

export type PodState = { readonly text: string; readonly ready: boolean; readonly restarts: number }

/** The state in the words of kubectl: the reason of the first container that waits or has ended, else the phase. */
export function podState({ metadata, status }: Pod): PodState {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const own = status?.containerStatuses ?? []
  const ready = own.length > 0 && own.every(container => container.ready)
  if (metadata.deletionTimestamp !== undefined) return { text: 'Terminating', ready: false, restarts }
  const text =
    containers.map(containerReason).find(reason => reason !== undefined) ?? status?.reason ?? status?.phase ?? 'Unknown'
  return { text: text === 'Running' && !ready ? 'Running, not ready' : text, ready, restarts }
}

function containerReason({ state }: ContainerStatus): string | undefined {
  if (state?.waiting?.reason !== undefined) return state.waiting.reason
  const ended = state?.terminated
  if (ended === undefined || (ended.exitCode === 0 && ended.reason === 'Completed')) return undefined
  return `${ended.reason ?? 'Error'} (exit code ${ended.exitCode})`
}
