// Translates the pod of a build with buildpacks, and for a failed one the end of its log, into a BuildState: the same steps and
// sentences as those of kpack's builds. Pure. Logs are untrusted text: they are redacted, cleaned and bounded before they are
// shown.
import { buildpacksBuildContainers as containers } from '../../../api/buildpacks-build.ts'
import type { Pod } from '../../../api/builtin/index.ts'
import { defined } from '../../../lib/json/defined.ts'
import { digestOf, isDigest } from '../../../lib/text/image-digest.ts'
import type { BuildState, CommitProof } from '../builder.ts'
import { causeOf } from '../cause/cause.ts'
import { tailOf } from '../cause/log-tail.ts'
import { registryTrouble } from '../cause/registry-trouble.ts'
import { podEnd } from '../pod-end.ts'
import { deadlineOf, exitCodeOf, hasEnded, hasFailed, isUnscheduled, startOf, statusOf, timeoutOf } from '../pods/pod-status.ts'
import { builderOf, repositoryOf, runImageOf } from './pod-manifest.ts'

/**
 * The phase by the exit code that the lifecycle ended with, in tens
 * (https://github.com/buildpacks/spec/blob/main/platform.md#lifecycle-interface).
 */
const phases: Readonly<Record<number, string>> = { 2: 'detect', 3: 'analyze', 4: 'restore' }
/** In the order in which they run. */
const order = [containers.prepare, containers.build, containers.export] as const

/** The container in progress, or in which the build failed. */
export function containerOf(pod: Pod): (typeof order)[number] {
  return order.find(name => exitCodeOf(pod, name) !== 0) ?? containers.export
}

/** The step in progress, or in which the build failed: a container, or the phase in it that its exit code names. */
export function stepOf(pod: Pod): string {
  const container = containerOf(pod)
  return phases[Math.floor((exitCodeOf(pod, container) ?? 0) / 10)] ?? container
}

/** What of a pod concerns the owner of the build and the queue. */
export function buildProgress(pod: Pod): unknown {
  return [pod.metadata.deletionTimestamp, pod.status?.phase, stepOf(pod), isUnscheduled(pod)]
}

/** The image of a build that has succeeded, by the digest that our own container reported. */
export function builtImage(pod: Pod): string | undefined {
  const repository = repositoryOf(pod)
  const reported = statusOf(pod, containers.export)?.state?.terminated?.message?.trim() ?? ''
  return pod.status?.phase === 'Succeeded' && repository !== undefined && isDigest(reported)
    ? `${repository}@${reported}`
    : undefined
}

/**
 * What a build that ended left: a failed one the end of the log of its container, a successful one what its image says about its
 * commit.
 */
export type PodEvidence = { readonly log?: string; readonly proof?: CommitProof }

function failedState(pod: Pod, log: string): BuildState {
  const started = startOf(pod)
  const [container, step] = [containerOf(pod), stepOf(pod)]
  const { reason = '', message = '' } = pod.status ?? {}
  const end = podEnd(pod)
  if (reason === 'DeadlineExceeded' && end.platformFailure === undefined)
    return { kind: 'timed-out', detail: `it was in step ${step} after ${timeoutOf(pod)} s`, ...started }
  const tail = tailOf(log)
  const cause = end.cause ?? causeOf(log)
  // Code of the tenant could print the same in the container in which it runs.
  const isOurs = container !== containers.build
  return {
    kind: 'failed',
    step,
    detail: tail === '' ? tailOf(message) || `the pod failed: ${reason}` : tail,
    // build-init says this when it has the commit; an invalid project descriptor fails in the same step afterwards.
    sourceUnread: step === containers.prepare && !log.includes('Successfully cloned'),
    ...registryTrouble(isOurs ? `${message}\n${log}` : ''),
    ...(cause === undefined ? {} : { cause: cause.sentence }),
    ...defined({ platformFailure: end.platformFailure }),
    ...started,
  }
}

/** `evidence` is needed only for a build that has ended. */
export function readPodState(pod: Pod, evidence: PodEvidence, now: Date): BuildState {
  const started = startOf(pod)
  if (hasFailed(pod)) return failedState(pod, evidence.log ?? '')
  if (hasEnded(pod)) {
    const image = builtImage(pod)
    const unread: CommitProof = { kind: 'unreadable', message: 'its image was not read' }
    const [runImage, builder] = [digestOf(runImageOf(pod)), builderOf(pod)]
    if (image !== undefined)
      return { kind: 'succeeded', image, proof: evidence.proof ?? unread, ...defined({ runImage, builder }), ...started }
    const none = { sourceUnread: false, registryRefused: false, registryUnreachable: false }
    return { kind: 'failed', step: containers.export, detail: 'the build reported success without an image', ...none, ...started }
  }
  const [deadline, step] = [deadlineOf(pod), stepOf(pod)]
  if (now >= deadline) return { kind: 'timed-out', detail: `it has not ended; its last step was ${step}`, ...started }
  return {
    kind: 'running',
    step,
    needsSource: step === containers.prepare,
    unscheduled: isUnscheduled(pod),
    deadline,
    ...started,
  }
}
