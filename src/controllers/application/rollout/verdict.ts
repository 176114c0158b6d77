// Whether the rollout of a release has failed: it is not ready in time, or its processes crash again and again soon after it
// began. Pure.

import { releaseDefaults } from '../../../api/apps/application/releases.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'
import { troubledPod } from '../../../api/pods/pod-problem.ts'
import type { Rollout } from './rollout.ts'
import { type RolloutRecord, remainingTime, untilDelayed } from './rollout-times.ts'

/** Restarts after which a process is not expected to recover: the kubelet waits 10, 20 and 40 seconds before them. */
const hopelessRestarts = 3

/** What is known about the rollout of one release. */
export type RolloutFacts = {
  readonly record: RolloutRecord
  readonly rollout: Rollout
  /** Of the Application's processes. */
  readonly pods: readonly Pod[]
  /** Why the cluster refused an object, if it did. */
  readonly refused: string | undefined
  /** Whether all processes of this release were ready at the same time before. */
  readonly wasReady: boolean
  readonly now: Date
}

export type Verdict =
  /** It is ready, or was. */
  | { readonly kind: 'ready' }
  /** Decide again after this time, or on the next change; only on the next change when it is undefined. */
  | { readonly kind: 'wait'; readonly milliseconds: number | undefined }
  | { readonly kind: 'failed'; readonly problem: string }

/** The settings of an Application, with the defaults of those that it omits. */
export function rolloutSettings({ spec }: Pick<Application, 'spec'>) {
  return { timeoutSeconds: releaseDefaults.rolloutSeconds, whenUnhealthy: 'RollBack' as const, ...spec.rollout }
}

function isHopeless({ ready, restartCount, state }: ContainerStatus): boolean {
  if (ready || restartCount < hopelessRestarts) return false
  return state?.terminated !== undefined || state?.waiting?.reason === 'CrashLoopBackOff'
}

/** Pods that began with the rollout or after it; times of pods are whole seconds. */
function podsOf({ record, pods }: RolloutFacts): readonly Pod[] {
  const since = Math.floor(Date.parse(record.startedAt) / 1000) * 1000
  return pods.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') >= since)
}

function crashOf(facts: RolloutFacts): string | undefined {
  const crashing = podsOf(facts).filter(pod => pod.status?.containerStatuses?.some(isHopeless))
  return crashing.length === 0 ? undefined : (troubledPod(crashing, facts.now)?.problem.message ?? 'its processes crash')
}

/**
 * A crash counts as long as the rollout may take, also when all pods were ready for a moment: a process without a port counts
 * as ready as soon as it runs. Later crashes are not the release's, nor is what else happens to a release that was ready once:
 * pods start anew when a node is lost or the platform renders its chart in another way, and an earlier release would fare no
 * better. What Kubernetes has not observed cannot have failed.
 */
export function verdictOf(facts: RolloutFacts, timeoutSeconds: number): Verdict {
  const { record, rollout, refused, wasReady, now } = facts
  const left = remainingTime(record, timeoutSeconds, now)
  const crash = left > 0 ? crashOf(facts) : undefined
  if (crash !== undefined) return { kind: 'failed', problem: crash }
  if (rollout.complete && refused === undefined) return { kind: 'ready' }
  if (refused === undefined && !rollout.observed) return { kind: 'wait', milliseconds: untilDelayed(record, timeoutSeconds, now) }
  if (left > 0) return { kind: 'wait', milliseconds: left }
  if (wasReady) return { kind: 'ready' }
  const cause = refused ?? rollout.problem?.message ?? rollout.progress
  return { kind: 'failed', problem: `it was not ready within ${timeoutSeconds} seconds (${cause})` }
}
