// The status of an Application: its conditions, and what runs. Pure. The running version keeps its url, image and commit in the
// status until the next version has taken over: a mistake in the spec never makes the running version look gone.
import { type Application, applicationReasons } from '../../api/apps/application.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../kit/refusal.ts'
import type { Progress } from './objects/apply-manifests.ts'
import type { InventoryEntry } from './objects/inventory.ts'
import type { ReleaseReport } from './releases/report.ts'
import type { Rollout } from './rollout/rollout.ts'
import { generationTimes } from './rollout/rollout-times.ts'

export type ApplicationStatus = NonNullable<Application['status']>

/** What the status reports. */
export type Observation = {
  readonly progress: Progress
  readonly rollout: Rollout
  readonly inventory: readonly InventoryEntry[]
  readonly releases: ReleaseReport
  /** Undefined without an autoscaler. */
  readonly autoscaling?: WantedCondition | undefined
  /** Undefined without redirects. */
  readonly redirecting?: WantedCondition | undefined
  /** What the tag means, when one is followed. */
  readonly following?: { readonly followedTag?: ApplicationStatus['followedTag']; readonly condition?: WantedCondition }
  /** What was read from the image, and the processes that run because of it. */
  readonly imageContents?: ApplicationStatus['imageContents']
  readonly processes?: ApplicationStatus['processes']
}

function renderedCondition(progress: Progress): WantedCondition {
  const type = 'Rendered'
  if (progress.kind === 'refused') return { type, status: 'False', reason: progress.reason, message: progress.message }
  return { type, status: 'True', reason: applicationReasons.applied, message: 'the cluster has every object of the chart' }
}

/** Whether something answers requests, an earlier version included. */
const suspended = {
  status: 'False',
  reason: applicationReasons.suspended,
  message: 'nothing runs, because spec.suspend is true: set it to false to run the Application again',
} as const

/** Nothing runs any more, as asked for. */
function isSuspended({ spec }: Application, { progress, rollout }: Observation): boolean {
  return spec.suspend === true && progress.kind === 'applied' && rollout.complete
}

function availableCondition(application: Application, observation: Observation): WantedCondition {
  const type = 'Available'
  const { progress, rollout, inventory } = observation
  if (isSuspended(application, observation)) return { type, ...suspended }
  const nothing = { type, status: 'False', message: 'nothing runs yet' } as const
  if (inventory.length === 0)
    return { ...nothing, reason: progress.kind === 'refused' ? progress.reason : applicationReasons.rollingOut }
  if (rollout.available) return { type, status: 'True', reason: applicationReasons.available, message: rollout.progress }
  return {
    type,
    status: 'False',
    reason: rollout.problem?.reason ?? applicationReasons.rollingOut,
    message: rollout.problem?.message ?? rollout.progress,
  }
}

/** For a release that may not be rolled out: what runs instead answers, or not. */
function heldCondition({ reason, message }: Refusal, { rollout }: Observation, serving: string): WantedCondition {
  const state = rollout.complete ? '' : `; what runs instead: ${rollout.problem?.message ?? rollout.progress}`
  const note = reason === applicationReasons.rolledBack ? '' : serving
  return { type: 'Ready', status: 'False', reason, message: `${message}${note}${state}`.slice(0, maxMessage) }
}

/** Of conditions in the schema. */
const maxMessage = 4096

function readyCondition(application: Application, observation: Observation): WantedCondition {
  const type = 'Ready'
  const { progress, rollout, inventory, releases } = observation
  if (isSuspended(application, observation)) return { type, ...suspended }
  const serving = rollout.available && inventory.length > 0 ? ' (the version before keeps serving)' : ''
  if (progress.kind === 'refused') return { type, status: 'False', reason: progress.reason, message: progress.message + serving }
  if (releases.hold) return heldCondition(releases.hold, observation, serving)
  if (rollout.complete) return readyBecause(releases, rollout)
  if (rollout.problem)
    return { type, status: 'False', reason: rollout.problem.reason, message: rollout.problem.message + serving + releases.note }
  return { type, status: 'False', reason: applicationReasons.rollingOut, message: rollout.progress + serving + releases.note }
}

function readyBecause({ pinned }: ReleaseReport, { progress }: Rollout): WantedCondition {
  const ready = { type: 'Ready', status: 'True' } as const
  if (pinned === undefined) return { ...ready, reason: applicationReasons.available, message: progress }
  return {
    ...ready,
    reason: applicationReasons.pinned,
    message: `${progress}: release ${pinned}, which spec.pinnedRelease names`,
  }
}

function conditionsOf(application: Application, observation: Observation): WantedCondition[] {
  const { progress, autoscaling, redirecting, following } = observation
  return [
    renderedCondition(progress),
    availableCondition(application, observation),
    readyCondition(application, observation),
    ...[autoscaling, redirecting, following?.condition].filter(condition => condition !== undefined),
  ]
}

/**
 * `application`: as the release that runs says it. `now` is used only where something changed: an equal observation results in
 * an equal status.
 */
export function nextStatus(application: Application, observation: Observation, now: Date): ApplicationStatus {
  const { metadata, spec, status: before } = application
  const generation = metadata.generation ?? 1
  const { progress, rollout, inventory, releases } = observation
  const applied = progress.kind === 'applied'
  const changed = applied && progress.changed
  const running = applied && rollout.complete && spec.suspend !== true
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, conditionsOf(application, observation), generation, now),
    inventory: [...inventory],
    ...releases.fields,
    ...defined({
      followedTag: observation.following?.followedTag,
      imageContents: observation.imageContents,
      processes: observation.processes,
      url: applied ? progress.url : before?.url,
      image: running ? spec.image : before?.image,
      commit: running ? spec.commit : before?.commit,
    }),
    ...generationTimes(application, { applied, changed, available: running && releases.hold === undefined }, now),
  }
}
