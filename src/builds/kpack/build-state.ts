// Reads a kpack Build, and its pod where that is needed, into our BuildState. Pure. kpack's messages and the logs of a build are words of
// the outside: redacted, cleaned of control characters and bounded before anybody sees them.
import type { Pod } from '../../api/builtin/index.ts'
import { redactTokens } from '../../lib/log.ts'
import type { BuildOwner, BuildState } from '../builder.ts'
import { ownerUidLabel } from './build-manifest.ts'
import { type KpackBuild, kpackSteps } from './resources.ts'

/** Beyond the build's own time: scheduling, pulling and kpack's turn. After that a build without an end is given up. */
const graceSeconds = 120
const defaultTimeoutSeconds = 900
/** The step that fetches the source. */
const sourceStep = 'prepare'

export function belongsTo(build: KpackBuild, owner: BuildOwner): boolean {
  return build.metadata.labels?.[ownerUidLabel] === owner.uid
}

function succeeded(build: KpackBuild): { readonly status: string; readonly message: string } {
  const condition = build.status?.conditions?.find(item => item.type === 'Succeeded')
  return { status: condition?.status ?? 'Unknown', message: condition?.message ?? '' }
}

export function hasEnded(build: KpackBuild): boolean {
  return succeeded(build).status !== 'Unknown'
}

export function hasFailed(build: KpackBuild): boolean {
  return succeeded(build).status === 'False'
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

function stepUnderWay(build: KpackBuild): string {
  const completed = new Set(build.status?.stepsCompleted ?? [])
  return kpackSteps.find(step => !completed.has(step)) ?? 'completion'
}

/** The step that failed: what the pod says, else what kpack's message names, else the first that is not complete. */
export function failedStep(build: KpackBuild, pod: Pod | undefined): string {
  const statuses = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])]
  const failed = statuses.find(status => (status.state?.terminated?.exitCode ?? 0) !== 0)
  const named = /Container (\w+) terminated/.exec(succeeded(build).message)?.[1]
  return failed?.name ?? named ?? stepUnderWay(build)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences are what is removed here
const terminalControl = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g

/** The last lines of a log, fit for a status: ten, because npm tells the cause that far above its end. */
export function tailOf(log: string): string {
  const lines = redactTokens(log)
    .replaceAll(terminalControl, '')
    .split('\n')
    .map(line => line.trim().slice(0, 200))
    .filter(line => line !== '')
  return lines.slice(-10).join('\n').slice(-1200)
}

export type BuildEvidence = { readonly pod: Pod | undefined; readonly log: string }

/** `evidence` is asked for only for a build that failed. */
export function judgeBuild(build: KpackBuild, evidence: BuildEvidence | undefined, now: Date): BuildState {
  const { status, message } = succeeded(build)
  const started = startOf(build)
  if (status === 'True') {
    const { latestImage } = build.status ?? {}
    if (latestImage === undefined)
      return {
        kind: 'failed',
        step: 'export',
        detail: 'the builder reported success without an image',
        sourceUnread: false,
        ...started,
      }
    return { kind: 'succeeded', image: latestImage, commit: build.spec.source.git?.revision ?? '', ...started }
  }
  if (status === 'False') {
    const step = failedStep(build, evidence?.pod)
    if (evidence?.pod?.status?.reason === 'DeadlineExceeded')
      return {
        kind: 'timed-out',
        detail: `it was in step ${step} after ${build.spec.activeDeadlineSeconds ?? defaultTimeoutSeconds} s`,
        ...started,
      }
    const log = evidence?.log ?? ''
    const tail = tailOf(log)
    // kpack says so when it has the commit; a project descriptor that cannot be read fails in the same step afterwards.
    const sourceUnread = step === sourceStep && !log.includes('Successfully cloned')
    return { kind: 'failed', step, detail: tail === '' ? tailOf(message) : tail, sourceUnread, ...started }
  }
  const deadline = deadlineOf(build)
  const step = stepUnderWay(build)
  if (now >= deadline) return { kind: 'timed-out', detail: `it never ended; its last step was ${step}`, ...started }
  return { kind: 'running', step, needsSource: step === sourceStep, deadline, ...started }
}
