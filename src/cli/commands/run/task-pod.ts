// The pod of a task: waiting until its container runs, and how it ended.
import type { CoreEvent, Pod } from '../../../api/builtin/core.ts'
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import { jobNameLabel } from '../../../api/names.ts'
import { taskLabel } from '../../../api/task-names.ts'
import { AppError } from '../../../lib/errors.ts'
import { until } from '../../kubernetes/until.ts'
import { podState, pods } from '../application/pods.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type Job, jobs } from './task-job.ts'

const events = namespacedKind<CoreEvent>('v1', 'Event', 'events')

type Started = { readonly pod: Pod } | { readonly failed: string }

/** The pod, once its container has begun. Rejects with `unavailable` when the cluster does not start it. */
export async function started(context: ClusterContext, job: string, signal: AbortSignal): Promise<Pod> {
  const { cluster, clock, terminal } = context
  const { client, namespace } = cluster
  let shown = ''
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const pod = until<Pod, Started>({
    client,
    clock,
    type: pods,
    namespace,
    labelSelector: `${jobNameLabel}=${job}`,
    signal: either,
    answer(one) {
      const state = one.status?.containerStatuses?.[0]?.state
      if (state?.running !== undefined || state?.terminated !== undefined) return { pod: one }
      const { text } = podState(one)
      if (['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'CreateContainerConfigError'].includes(text))
        return { failed: `${text}: ${state?.waiting?.message ?? ''}` }
      if (text !== shown) terminal.say(`${job}: ${text}`)
      shown = text
      return undefined
    },
  })
  const ended = until<Job, Started>({
    client,
    clock,
    type: jobs,
    namespace,
    labelSelector: taskLabel,
    signal: either,
    answer(one) {
      const failed = one.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True')
      if (one.metadata.name !== job || failed === undefined) return undefined
      return { failed: `${failed.reason ?? 'Failed'}: ${failed.message ?? ''}` }
    },
  })
  const refused = refusal(context, job, either)
  try {
    const first = await Promise.race([pod, ended, refused])
    if ('pod' in first) return first.pod
    throw new AppError('unavailable', `${job} did not start: ${first.failed}`)
  } finally {
    over.abort('over')
    await Promise.allSettled([pod, ended, refused])
  }
}

/** The Job controller reports by an Event that a quota or a policy refuses the pod. */
function refusal({ cluster, clock }: ClusterContext, job: string, signal: AbortSignal): Promise<Started> {
  const { client, namespace } = cluster
  return until<CoreEvent, Started>({
    client,
    clock,
    type: events,
    namespace,
    labelSelector: '',
    signal,
    answer: ({ involvedObject, reason, message }) =>
      involvedObject.kind === 'Job' && involvedObject.name === job && reason === 'FailedCreate'
        ? { failed: message ?? reason }
        : undefined,
  })
}

export type End = { readonly code: number; readonly why?: string | undefined }

/** As shells report a program that does not exist, and one that may not be run. */
export const notFoundCode = 127
const notExecutableCode = 126

/** How the container ended; undefined while it has not. */
export function endOf(pod: Pod): End | undefined {
  const ended = pod.status?.containerStatuses?.[0]?.state?.terminated
  if (ended === undefined)
    return pod.status?.phase === 'Failed' ? { code: 1, why: pod.status.message ?? pod.status.reason } : undefined
  if (ended.reason === 'OOMKilled')
    return { code: ended.exitCode, why: 'it used more memory than it may: raise memory of the process in the Application' }
  if (ended.reason === 'StartError' || ended.reason === 'ContainerCannotRun') return notStarted(ended.message ?? ended.reason)
  return { code: ended.exitCode, why: pod.status?.reason === 'DeadlineExceeded' ? 'it took longer than --timeout' : undefined }
}

function notStarted(message: string): End {
  if (/executable file not found|no such file or directory/.test(message))
    return { code: notFoundCode, why: `the image has no such program: ${message}` }
  return { code: /permission denied/.test(message) ? notExecutableCode : 1, why: message }
}

/** Resolves when the container has ended, or its pod is gone. */
export function untilEnded({ cluster, clock }: ClusterContext, job: string, signal: AbortSignal): Promise<End> {
  const { client, namespace } = cluster
  return until({
    client,
    clock,
    type: pods,
    namespace,
    labelSelector: `${jobNameLabel}=${job}`,
    signal,
    answer: (one, deleted) => endOf(one) ?? (deleted ? { code: 1, why: 'its pod was deleted' } : undefined),
  })
}
