// Translates the pod of a Dockerfile build, and for a failed one the end of its log, into a BuildState. Pure. Logs are
// untrusted text: they are redacted, cleaned and bounded before they are shown.
import type { Pod } from '../../../api/builtin/index.ts'
import {
  dockerfileBuildContainers as containers,
  imageRepositoryAnnotation as imageAnnotation,
} from '../../../api/dockerfile-build.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isDigest } from '../../../lib/text/image-digest.ts'
import type { BuildState, CommitProof } from '../builder.ts'
import { causeOf } from '../cause/cause.ts'
import { tailOf } from '../cause/log-tail.ts'
import type { LabelAnswer } from '../kpack/image-commit.ts'
import { deadlineOf, exitCodeOf, hasEnded, hasFailed, isUnscheduled, startOf, statusOf, timeoutOf } from '../pods/pod-status.ts'

const fullCommit = /^[0-9a-f]{40}([0-9a-f]{24})?$/

/** Source: https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const revisionLabel = 'org.opencontainers.image.revision'

/**
 * Which commit an image names as its source. The label has the commit that git had after the fetch, and replaces one of the
 * Dockerfile; code of the build is not in the container that reads and sets it.
 */
export function commitOfRevision(answer: LabelAnswer): CommitProof {
  if (answer.kind === 'unreadable') return { kind: answer.permanent ? 'absent' : 'unreadable', message: answer.message }
  const commit = answer.labels[revisionLabel]
  if (commit === undefined) return { kind: 'absent', message: `it has no label ${revisionLabel}` }
  if (!fullCommit.test(commit)) return { kind: 'absent', message: `its label ${revisionLabel} names no git commit` }
  return { kind: 'proven', commit }
}

/** The image of a build that has succeeded, by the digest that our own container reported. */
export function builtImage(pod: Pod): string | undefined {
  const repository = pod.metadata.annotations?.[imageAnnotation]
  const reported = statusOf(pod, containers.build)?.state?.terminated?.message?.trim() ?? ''
  return pod.status?.phase === 'Succeeded' && repository !== undefined && isDigest(reported)
    ? `${repository}@${reported}`
    : undefined
}

/** The step in progress, or in which the build failed. */
export function stepOf(pod: Pod): string {
  return exitCodeOf(pod, containers.source) === 0 ? containers.build : containers.source
}

/** What of a pod concerns the owner of the build and the queue. */
export function buildProgress(pod: Pod): unknown {
  return [pod.metadata.deletionTimestamp, pod.status?.phase, stepOf(pod), isUnscheduled(pod)]
}

/**
 * What the container `build` says about the registry; the text of a failing RUN begins otherwise (`error: failed to solve:
 * process …`).
 */
const push = /^error: failed to solve: failed to (push|authorize|do request|configure registry|fetch (oauth|anonymous) token)/m
const refusal = /\b(401 Unauthorized|403 Forbidden)\b|insufficient_scope|\b(unauthorized|denied)\b/i
const noAnswer =
  /\b(connection refused|connection reset by peer|i\/o timeout|no route to host|network is unreachable|TLS handshake timeout)\b|\b50[234] (Bad Gateway|Service Unavailable|Gateway Timeout)\b/

/** The last line with which buildctl ends. */
function clientError(log: string): string {
  return log.split('\n').findLast(line => line.startsWith('error: ')) ?? ''
}

function failedState(pod: Pod, log: string): BuildState {
  const started = startOf(pod)
  const step = stepOf(pod)
  const { reason = '', message = '' } = pod.status ?? {}
  if (reason === 'DeadlineExceeded')
    return { kind: 'timed-out', detail: `it was in step ${step} after ${timeoutOf(pod)} s`, ...started }
  const tail = tailOf(log)
  // An eviction names its cause in the pod: a volume or a container that is too large, or a node without memory.
  const evicted = reason === 'Evicted' ? tailOf(message) : ''
  const detail = [tail, evicted].filter(text => text !== '').join('\n') || tailOf(message) || `the pod failed: ${reason}`
  const error = clientError(log)
  const cause = causeOf(log)?.sentence
  const aboutRegistry = push.test(error)
  const registryUnreachable = aboutRegistry && noAnswer.test(error)
  return {
    kind: 'failed',
    step,
    detail,
    ...defined({ cause }),
    sourceUnread: step === containers.source,
    registryRefused: aboutRegistry && !registryUnreachable && refusal.test(error),
    registryUnreachable,
    ...started,
  }
}

/**
 * What a build that ended left: a failed one the end of the log of its step, a successful one what its image says about its
 * commit.
 */
export type PodEvidence = { readonly log?: string; readonly proof?: CommitProof }

/** `evidence` is needed only for a build that has ended. */
export function readPodState(pod: Pod, evidence: PodEvidence, now: Date): BuildState {
  const started = startOf(pod)
  if (hasFailed(pod)) return failedState(pod, evidence.log ?? '')
  if (hasEnded(pod)) {
    const image = builtImage(pod)
    const unread: CommitProof = { kind: 'unreadable', message: 'its image was not read' }
    if (image !== undefined) return { kind: 'succeeded', image, proof: evidence.proof ?? unread, ...started }
    const none = { sourceUnread: false, registryRefused: false, registryUnreachable: false }
    return { kind: 'failed', step: containers.build, detail: 'the build reported success without an image', ...none, ...started }
  }
  const deadline = deadlineOf(pod)
  const step = stepOf(pod)
  if (now >= deadline) return { kind: 'timed-out', detail: `it has not ended; its last step was ${step}`, ...started }
  return { kind: 'running', step, needsSource: step === containers.source, unscheduled: isUnscheduled(pod), deadline, ...started }
}
