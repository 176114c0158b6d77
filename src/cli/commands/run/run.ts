// `sekisho run`: a command in a pod of its own, with the image, the environment and the restrictions of the Application. Its
// exit code becomes the one of this process.
import type { CoreEvent, Pod } from '../../../api/builtin/core.ts'
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import { AppError } from '../../../lib/errors.ts'
import { fieldManager } from '../../kubernetes/cluster.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import { until } from '../../kubernetes/until.ts'
import { type ClusterFormat, CommandEnded, json, present } from '../../output.ts'
import { namedOrOnly } from '../application/only.ts'
import { podSelector, podState, pods } from '../application/pods.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { containerLog } from '../logs/container-log.ts'
import { builtByBuildpacks, deploymentFor, type Job, jobs, taskJob, taskLabel } from './task-job.ts'

export type RunOptions = {
  readonly detach?: boolean
  readonly process?: string
  readonly timeout: number
  readonly volumes?: boolean
  readonly dryRun?: boolean
  readonly output: ClusterFormat
}

const deployments = namespacedKind<Deployment>('apps/v1', 'Deployment', 'deployments')
const events = namespacedKind<CoreEvent>('v1', 'Event', 'events')
const container = 'task'
/** As shells report the end by SIGINT: 128 + 2. */
const interruptedCode = 130

/** Prints what the command writes. Rejects with CommandEnded when it ends with another code than 0. */
export async function run(context: ClusterContext, options: RunOptions, name: string, command: readonly string[]): Promise<void> {
  const { cluster, terminal } = context
  const { client, namespace } = cluster
  const application = await namedOrOnly(cluster, name)
  const [all, syncs] = await Promise.all([
    client.list(deployments, { namespace, labelSelector: podSelector(name) }),
    client.list(remoteSyncs, { namespace }),
  ])
  const { detach = false, process: like, timeout: timeoutSeconds, volumes = false, dryRun = false } = options
  const task = { command, process: like, timeoutSeconds, detach, volumes, buildpacks: builtByBuildpacks(application, syncs) }
  const job = await client.create(jobs, taskJob(application, deploymentFor(name, all, like), task), { fieldManager, dryRun })
  const made = job.metadata.name
  if (dryRun) return present(terminal, options.output, { value: job, text: () => json(job) })
  if (detach) {
    const text = (): string =>
      `${made} runs; kubectl logs -f job/${made} shows what it writes, kubectl delete job ${made} ends it. It is removed a day after its end`
    return present(terminal, options.output, { value: { job: made }, text })
  }
  await attached(context, made)
}

/** Deletes the Job in the end, also when the person ends this command. */
async function attached(context: ClusterContext, job: string): Promise<void> {
  const { client, namespace } = context.cluster
  const interrupted = new AbortController()
  const onInterrupt = (): void => interrupted.abort(new CommandEnded(interruptedCode))
  process.once('SIGINT', onInterrupt)
  process.once('SIGTERM', onInterrupt)
  try {
    const code = await followed(context, job, interrupted.signal)
    if (code !== 0) throw new CommandEnded(code)
  } finally {
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onInterrupt)
    await client.delete(jobs, { name: job, namespace })
  }
}

async function followed(context: ClusterContext, job: string, signal: AbortSignal): Promise<number> {
  const { cluster, clock, terminal } = context
  const { client, namespace } = cluster
  const labelSelector = `batch.kubernetes.io/job-name=${job}`
  const pod = await started(context, job, signal)
  const reading = { client, namespace, clock, signal }
  const source = { process: 'run', pod: pod.metadata.name, container }
  let running = true
  const ended = until({
    client,
    clock,
    type: pods,
    namespace,
    labelSelector,
    signal,
    answer: (one, deleted) => endOf(one) ?? (deleted ? { code: 1, why: 'its pod was deleted' } : undefined),
  }).finally(() => {
    running = false
  })
  for await (const line of containerLog(reading, source, { follow: true, stillRuns: () => running })) terminal.result(line.text)
  const { code, why } = await ended
  if (why !== undefined) terminal.say(`${job}: ${why}`)
  return code
}

type Started = { readonly pod: Pod } | { readonly failed: string }

/** The pod, once its container has begun. Rejects with `unavailable` when the cluster does not start it. */
async function started(context: ClusterContext, job: string, signal: AbortSignal): Promise<Pod> {
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
    labelSelector: `batch.kubernetes.io/job-name=${job}`,
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

/** How the container ended; undefined while it has not. */
export function endOf(pod: Pod): { readonly code: number; readonly why?: string | undefined } | undefined {
  const ended = pod.status?.containerStatuses?.[0]?.state?.terminated
  if (ended === undefined)
    return pod.status?.phase === 'Failed' ? { code: 1, why: pod.status.message ?? pod.status.reason } : undefined
  if (ended.reason === 'OOMKilled')
    return { code: ended.exitCode, why: 'it used more memory than it may: raise memory of the process in the Application' }
  return { code: ended.exitCode, why: pod.status?.reason === 'DeadlineExceeded' ? 'it took longer than --timeout' : undefined }
}
