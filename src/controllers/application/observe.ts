// Rollout: what a reconcile found out about the release that runs, as the next status, and when it must be judged again. Pure.
import {
  type Deployment,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  ingresses,
} from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { isOf, type KubeObject, type ResourceType } from '../../api/resource.ts'
import { soonest } from '../kit/soonest.ts'
import { redirectingCondition } from './domains/redirects.ts'
import type { Facts } from './facts.ts'
import { followedStatus } from './image/followed-tag.ts'
import { foundIn, portsNotTaken, runningIn } from './image/processes.ts'
import type { Applied } from './objects/apply-manifests.ts'
import { entryText } from './objects/inventory.ts'
import type { ReleaseObservation } from './releases/release-status.ts'
import { reportOf } from './releases/report.ts'
import { autoscalingCondition } from './rollout/autoscaling.ts'
import { evaluateRollout, podsOfGeneration, untilJudged } from './rollout/rollout.ts'
import { withDelay } from './rollout/rollout-times.ts'
import { type FailedChecks, unansweredProblem, unreadyIn, untilAsked } from './rollout/unanswered.ts'
import { type ApplicationStatus, nextStatus } from './status.ts'

/** How far a reconcile got. */
export type Step = Applied & {
  /** Of the release that runs. */
  readonly facts: Facts
  /** Absent when nothing was decided about releases. */
  readonly observed?: ReleaseObservation
}

/** The objects of a kind in the inventory: as answered in this run, else as cached; undefined for one that is in neither. */
function ofKind<T extends KubeObject>(
  type: ResourceType<T>,
  { children }: Pick<Facts, 'children'>,
  { inventory, live }: Applied,
): readonly (T | undefined)[] {
  return inventory
    .filter(entry => isOf(type, entry))
    .map(entry => live.get(entryText(entry)) ?? children.get(entryText(entry)))
    .map(object => (object && isOf(type, object) ? object : undefined))
}

function deploymentsOf(facts: Facts, step: Step): readonly (Deployment | undefined)[] {
  const found = ofKind<Deployment>(deployments, facts, step)
  // After a refusal the inventory also names Deployments that were never created.
  const existing = found.filter(deployment => deployment !== undefined)
  return step.progress.kind === 'refused' && existing.length > 0 ? existing : found
}

/** Of the process `web`; undefined when there is none. */
function replicasOfWeb(found: readonly (Deployment | undefined)[]): number | undefined {
  const web = found.find(deployment => deployment?.metadata.labels?.[labels.process] === 'web')
  return web && (web.status?.updatedReplicas ?? 0)
}

/** The time, and what was asked about processes that are not ready. */
export type Look = { readonly now: Date; readonly failedChecks: FailedChecks }

/** `facts`: of the spec. */
export function observe(
  facts: Facts,
  step: Step,
  { now, failedChecks }: Look,
): { readonly status: ApplicationStatus; readonly requeueAfterMilliseconds: number | undefined } {
  const { application, progress, inventory, observed } = step
  const { pods } = facts
  const found = deploymentsOf(facts, step)
  const unready = unreadyIn(podsOfGeneration(pods, found), runningIn(facts), now)
  const time = { deployments: found, now }
  const unanswered = unansweredProblem(unready, { failed: failedChecks, otherPorts: portsNotTaken(facts), ...time })
  const rollout = evaluateRollout({ deployments: found, pods, unanswered }, now)
  const untilNextLook = rollout.complete ? undefined : soonest(untilAsked(unready, time), untilJudged(pods, now))
  const releases = reportOf(application, { observed, progress, rollout, pods, replicas: replicasOfWeb(found) }, now)
  const present = inventory.filter(({ kind }) => kind === ingresses.kind).map(({ name }) => name)
  const applied = progress.kind === 'applied'
  const observation = {
    progress,
    inventory,
    rollout: withDelay(rollout, releases.fields.rollout),
    releases,
    autoscaling: autoscalingCondition(ofKind<HorizontalPodAutoscaler>(horizontalPodAutoscalers, facts, step)),
    redirecting: redirectingCondition(application, facts.redirectAnnotations, { applied, present }),
    following: followedStatus(application, facts.followed, now),
    ...foundIn(step.facts),
  }
  const refusedFor = applied ? undefined : progress.requeueAfterMilliseconds
  return {
    status: nextStatus(application, observation, now),
    requeueAfterMilliseconds: soonest(refusedFor, releases.requeueAfterMilliseconds, untilNextLook),
  }
}
