// Why a pod of an Application does not come up, in words for the person who wrote it, with the cure. Pure.
import { applicationReasons } from '../../../api/apps/application.ts'
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'
import { redactTokens } from '../../../lib/log.ts'

export type Trouble = { readonly reason: string; readonly message: string }

const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
])
/** Waiting reasons of a pod that is simply on its way. */
const onTheWay: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing'])

function bounded(text: string): string {
  return redactTokens(text.replaceAll(/\s+/g, ' ')).slice(0, 300)
}

/** The kubelet tells the same failure in two ways by turns, and repeats the image in it: one text for both, so that the status rests. */
function pullProblem(
  image: string,
  { reason = '', message = '' }: { readonly reason?: string; readonly message?: string },
): string {
  const cause = message.replace(/^Back-off pulling image "[^"]*"(: \w+: )?/, '').replace(/^rpc error: code = \w+ desc = /, '')
  return bounded(cause === '' ? reason : cause.replaceAll(`"${image}"`, 'it').replaceAll(image, 'it'))
}

function containerTrouble(pod: Pod, container: ContainerStatus): Trouble | undefined {
  const { waiting, terminated } = container.state ?? {}
  const last = terminated ?? container.lastState?.terminated
  const logs = `kubectl logs -n ${pod.metadata.namespace} ${pod.metadata.name} -c ${container.name} --previous`
  if (waiting && pullFailures.has(waiting.reason ?? '')) {
    const message = `image ${container.image} cannot be pulled (${pullProblem(container.image, waiting)}): check spec.image and that the registry has it`
    return { reason: applicationReasons.imagePullFailed, message }
  }
  if (last && !container.ready && (terminated || waiting?.reason === 'CrashLoopBackOff' || container.restartCount > 0)) {
    if (last.reason === 'OOMKilled') {
      const message = `process ${container.name} ran out of memory: raise its memory in spec.processes`
      return { reason: applicationReasons.crashing, message }
    }
    const message = `process ${container.name} exits with code ${last.exitCode} after ${container.restartCount} restarts: see ${logs}`
    return { reason: applicationReasons.crashing, message }
  }
  if (waiting && !onTheWay.has(waiting.reason ?? '')) {
    const message = `process ${container.name} cannot start: ${waiting.reason}: ${bounded(waiting.message ?? '')}`
    return { reason: applicationReasons.rolloutStalled, message }
  }
  return undefined
}

function schedulingTrouble(pod: Pod): Trouble | undefined {
  const scheduled = pod.status?.conditions?.find(condition => condition.type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  return {
    reason: applicationReasons.rolloutStalled,
    message: 'no node has room for a pod: lower cpu or memory in spec.processes, or add nodes',
  }
}

/** The trouble of the newest pod that has one. Pods that are being deleted belong to the past. */
export function podTrouble(pods: readonly Pod[]): Trouble | undefined {
  const newestFirst = pods
    .filter(pod => pod.metadata.deletionTimestamp === undefined)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
  for (const pod of newestFirst) {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
    const trouble =
      statuses.map(status => containerTrouble(pod, status)).find(found => found !== undefined) ?? schedulingTrouble(pod)
    if (trouble) return trouble
  }
  return undefined
}

/** What of a pod can change its trouble: other updates of the pod wake nobody. */
export function troublePart(pod: Pod): unknown {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  const scheduled = pod.status?.conditions?.find(condition => condition.type === 'PodScheduled')?.status
  return { deleted: pod.metadata.deletionTimestamp, scheduled, trouble: statuses.map(status => containerTrouble(pod, status)) }
}
