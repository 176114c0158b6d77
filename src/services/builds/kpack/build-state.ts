// Translates a kpack Build, and for a failed one its pod and log, into a BuildState. Pure. kpack's messages and the logs of a
// build are untrusted text: redacted, cleaned of control characters and bounded before they are shown.
import type { Pod } from '../../../api/builtin/index.ts'
import { defined } from '../../../lib/json/defined.ts'
import { digestOf } from '../../../lib/text/image-digest.ts'
import type { BuildState, CommitProof } from '../builder.ts'
import { causeOf } from '../cause/cause.ts'
import { tailOf } from '../cause/log-tail.ts'
import { registryTrouble } from '../cause/registry-trouble.ts'
import { podEnd } from '../pod-end.ts'
import { builderOf } from './build-manifest.ts'
import { isRebase, type KpackBuild, stepsOf } from './resources.ts'

/**
 * Added to the build's own timeout for scheduling, image pulls and kpack's reconcile. A build that has not ended by then is
 * given up.
 */
const graceSeconds = 120
const defaultTimeoutSeconds = 900
/** The step that fetches the source. */
const sourceStep = 'prepare'

function succeeded(build: KpackBuild): { readonly status: string; readonly message: string } {
  const condition = build.status?.conditions?.find(item => item.type === 'Succeeded')
  return { status: condition?.status ?? 'Unknown', message: condition?.message ?? '' }
}

/** Whether it has succeeded or failed; nothing changes about it afterwards. */
export function hasEnded(build: KpackBuild): boolean {
  return succeeded(build).status !== 'Unknown'
}

/** Whether its pod and log are needed to say why it failed. */
export function hasFailed(build: KpackBuild): boolean {
  return succeeded(build).status === 'False'
}

/** The image of a build that has succeeded; undefined for one that has not, or that reports none. */
export function builtImage(build: KpackBuild): string | undefined {
  return succeeded(build).status === 'True' ? build.status?.latestImage : undefined
}

function deadlineOf(build: KpackBuild): Date {
  const created = Date.parse(build.metadata.creationTimestamp ?? '') || 0
  return new Date(created + ((build.spec.activeDeadlineSeconds ?? defaultTimeoutSeconds) + graceSeconds) * 1000)
}

function startOf(build: KpackBuild): { readonly startedAt?: string } {
  const [first] = build.status?.stepStates ?? []
  const startedAt = first?.terminated?.startedAt ?? first?.running?.startedAt
  return startedAt === undefined ? {} : { startedAt }
}

function currentStep(build: KpackBuild): string {
  const completed = new Set(build.status?.stepsCompleted ?? [])
  return stepsOf(build).find(step => !completed.has(step)) ?? 'completion'
}

/** The step that failed: according to the pod, else according to kpack's message, else the first step that is not complete. */
export function failedStep(build: KpackBuild, pod: Pod | undefined): string {
  const statuses = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])]
  const failed = statuses.find(status => (status.state?.terminated?.exitCode ?? 0) !== 0)
  const named = /Container (\w+) terminated/.exec(succeeded(build).message)?.[1]
  return failed?.name ?? named ?? currentStep(build)
}

/**
 * What a build that ended left: a failed one its pod, if it still exists, and the end of the failed step's log; a successful
 * one what its image says about its commit.
 */
export type BuildEvidence = { readonly pod?: Pod | undefined; readonly log?: string; readonly proof?: CommitProof }

/** The steps that talk to the registry and run no code of the tenant, so their messages can be trusted. */
const registrySteps: readonly string[] = ['prepare', 'analyze', 'restore', 'export', 'rebase']
/** What a build that failed says, with its pod and log. */
function failedState(build: KpackBuild, evidence: BuildEvidence | undefined): BuildState {
  const { message } = succeeded(build)
  const started = startOf(build)
  const step = failedStep(build, evidence?.pod)
  const end = podEnd(evidence?.pod)
  const late = evidence?.pod?.status?.reason === 'DeadlineExceeded'
  if (late && end.platformFailure === undefined)
    return {
      kind: 'timed-out',
      detail: `it was in step ${step} after ${build.spec.activeDeadlineSeconds ?? defaultTimeoutSeconds} s`,
      ...started,
    }
  const log = evidence?.log ?? ''
  const tail = tailOf(log)
  // kpack logs this when it has the commit; an invalid project descriptor fails in the same step afterwards.
  const sourceUnread = step === sourceStep && !log.includes('Successfully cloned')
  const detail = tail === '' ? tailOf(message) : tail
  // The whole log: the detail has the beginning of each line only, and the cause stands at the end of a long one.
  const reported = registrySteps.includes(step) ? `${message}\n${log}` : ''
  const cause = end.cause ?? causeOf(log)
  return {
    kind: 'failed',
    step,
    detail,
    sourceUnread,
    ...registryTrouble(reported),
    ...(cause === undefined ? {} : { cause: cause.sentence }),
    ...defined({ platformFailure: end.platformFailure }),
    ...started,
  }
}

/** `evidence` is needed only for a build that has ended. */
export function readBuildState(build: KpackBuild, evidence: BuildEvidence | undefined, now: Date): BuildState {
  const { status } = succeeded(build)
  const started = startOf(build)
  if (status === 'True') {
    const { latestImage, stack } = build.status ?? {}
    const runImage = digestOf(stack?.runImage)
    const builder = builderOf(build)
    if (latestImage === undefined)
      return {
        kind: 'failed',
        step: isRebase(build) ? 'rebase' : 'export',
        detail: 'the builder reported success without an image',
        sourceUnread: false,
        registryRefused: false,
        registryUnreachable: false,
        ...started,
      }
    const unread: CommitProof = { kind: 'unreadable', message: 'its image was not read' }
    return {
      kind: 'succeeded',
      image: latestImage,
      proof: evidence?.proof ?? unread,
      ...defined({ runImage, builder }),
      ...started,
    }
  }
  if (status === 'False') return failedState(build, evidence)
  const deadline = deadlineOf(build)
  const step = currentStep(build)
  if (now >= deadline) return { kind: 'timed-out', detail: `it has not ended; its last step was ${step}`, ...started }
  return { kind: 'running', step, needsSource: step === sourceStep, deadline, ...started }
}
