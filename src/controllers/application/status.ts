// The status of an Application: its conditions, and what runs. Pure. The running version keeps its url, image and commit in the status until
// the next version has taken over: a mistake in the spec never makes the running version look gone.
import { type Application, applicationReasons } from '../../api/apps/application.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import type { Refusal } from '../../policy/check.ts'
import type { InventoryEntry } from './objects/inventory.ts'
import type { Rollout } from './rollout/rollout.ts'

export type ApplicationStatus = NonNullable<Application['status']>

/** How far one reconcile got. `refused`: before or while applying; `applied`: the cluster has every object. */
export type Progress =
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'applied'; readonly url: string | undefined; readonly changed: boolean }

/** What the status reports. */
export type Observation = {
  readonly progress: Progress
  readonly rollout: Rollout
  readonly inventory: readonly InventoryEntry[]
}

function renderedCondition(progress: Progress): WantedCondition {
  if (progress.kind === 'applied')
    return {
      type: 'Rendered',
      status: 'True',
      reason: applicationReasons.applied,
      message: 'the cluster has every object of the chart',
    }
  return { type: 'Rendered', status: 'False', reason: progress.reason, message: progress.message }
}

/** Whether something answers requests, an earlier version included. */
function availableCondition({ rollout, inventory }: Observation): WantedCondition {
  const type = 'Available'
  if (inventory.length === 0)
    return { type, status: 'False', reason: applicationReasons.waitingForImage, message: 'nothing runs yet' }
  if (rollout.available) return { type, status: 'True', reason: applicationReasons.available, message: rollout.progress }
  return {
    type,
    status: 'False',
    reason: rollout.problem?.reason ?? applicationReasons.rollingOut,
    message: rollout.problem?.message ?? rollout.progress,
  }
}

function readyCondition({ progress, rollout, inventory }: Observation): WantedCondition {
  const type = 'Ready'
  const serving = rollout.available && inventory.length > 0 ? ' (the version before keeps serving)' : ''
  if (progress.kind === 'refused') return { type, status: 'False', reason: progress.reason, message: progress.message + serving }
  if (rollout.complete) return { type, status: 'True', reason: applicationReasons.available, message: rollout.progress }
  if (rollout.problem)
    return { type, status: 'False', reason: rollout.problem.reason, message: rollout.problem.message + serving }
  return { type, status: 'False', reason: applicationReasons.rollingOut, message: rollout.progress + serving }
}

function definedFields(entries: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined: Record<string, string> = {}
  for (const [name, value] of Object.entries(entries)) if (value !== undefined) defined[name] = value
  return defined
}

/** `now` is used only where something changed: an equal observation results in an equal status. */
export function nextStatus(application: Application, observation: Observation, now: Date): ApplicationStatus {
  const { metadata, spec, status: before } = application
  const generation = metadata.generation ?? 1
  const { progress, rollout, inventory } = observation
  const sameGeneration = before?.observedGeneration === generation
  const applied = progress.kind === 'applied'
  const running = applied && rollout.complete
  const appliedBefore = sameGeneration ? before.appliedAt : undefined
  const availableBefore = sameGeneration ? before.availableAt : undefined
  const time = now.toISOString()
  return {
    observedGeneration: generation,
    conditions: mergeConditions(
      before?.conditions,
      [renderedCondition(progress), availableCondition(observation), readyCondition(observation)],
      generation,
      now,
    ),
    inventory: [...inventory],
    ...definedFields({
      url: applied ? progress.url : before?.url,
      image: running ? spec.image : before?.image,
      commit: running ? spec.commit : before?.commit,
      appliedAt: applied ? (progress.changed ? time : (appliedBefore ?? time)) : appliedBefore,
      availableAt: running ? (availableBefore ?? time) : availableBefore,
    }),
  }
}
