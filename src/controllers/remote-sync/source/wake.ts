// When GitHub must be asked for the commit again, and when the signal to do so arrived. Pure.
import { appPipeline } from '../../../api/apps/app-pipeline.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { wakeOf } from '../../kit/repository/observed-wake.ts'
import type { Facts } from '../gather.ts'
import { type FollowedHead, settledAt } from './pull-request.ts'

function isNewWake(remoteSync: RemoteSync): boolean {
  const wake = wakeOf(remoteSync)
  return wake !== undefined && wake !== remoteSync.status?.handledWake
}

/** Whether no status was written for the spec as it is now. */
export function isNewSpec(remoteSync: RemoteSync): boolean {
  return remoteSync.status?.observedGeneration !== remoteSync.metadata.generation
}

/** Whether a webhook or a new spec asks for it: then a commit that failed is built once more. */
export function mayRetry(remoteSync: RemoteSync): boolean {
  return isNewWake(remoteSync) || isNewSpec(remoteSync)
}

/**
 * Without access to the repository no webhooks come: what was pushed meanwhile is looked for as soon as there is access again.
 */
function wasResolved({ status }: RemoteSync): boolean {
  return findCondition(status?.conditions, 'Resolved')?.status !== 'False'
}

/**
 * The longest time between two questions about a merge commit that an AppPipeline looks after. GitHub does not promise that its
 * list shows each push to the base branch.
 */
export const mergeSweepMilliseconds = 6 * 3_600_000

/**
 * Polling interval; undefined: never poll. An AppPipeline sees each new commit in its list of pull requests, and wakes the
 * RemoteSync for it: a hundred previews then cost one request at rest.
 */
function pollingInterval({ metadata, spec }: RemoteSync, sweepMilliseconds: number): number | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.kind !== appPipeline.kind) return sweepMilliseconds
  return spec.source.mergeCommit === true ? Math.max(mergeSweepMilliseconds, sweepMilliseconds) : undefined
}

type Asked = Pick<Facts, 'remoteSync' | 'lastCheckedAt' | 'now'>

/** The resync that triggers the sweep comes up to a tenth early. */
function isSweepDue(rest: number, lastCheckedAt: Date, now: Date): boolean {
  return now.getTime() - lastCheckedAt.getTime() >= rest * 0.8
}

/**
 * The pull request that the last answer said to be in conflict, while GitHub need not be asked about it again: another head or
 * base comes with a webhook or is seen in the list of the AppPipeline, as for a merge commit.
 */
export function knownConflict({ remoteSync, lastCheckedAt, now }: Asked, sweepMilliseconds: number): FollowedHead | undefined {
  const { pullRequest, conditions } = remoteSync.status ?? {}
  const { conflictSince } = pullRequest ?? {}
  if (conflictSince === undefined || findCondition(conditions, 'Resolved')?.reason !== reasons.mergeConflict) return undefined
  if (lastCheckedAt === undefined || mayRetry(remoteSync)) return undefined
  const isUncertain = lastCheckedAt.getTime() < settledAt(conflictSince)
  if (isUncertain && now.getTime() >= settledAt(conflictSince)) return undefined
  const rest = pollingInterval(remoteSync, sweepMilliseconds)
  return rest !== undefined && isSweepDue(rest, lastCheckedAt, now) ? undefined : pullRequest
}

/**
 * Whether GitHub must be asked. After a restart `lastCheckedAt` is unknown, and asking once more finds pushes whose webhooks
 * were missed. A fixed commit is resolved once.
 */
export function mustResolve({ remoteSync, lastCheckedAt, now }: Asked, sweepMilliseconds: number): boolean {
  const { commit, pullRequest } = remoteSync.status ?? {}
  if (commit === undefined || isNewSpec(remoteSync)) return true
  // Without it, nobody knows whether the commit is one of a fork.
  if (remoteSync.spec.source.pullRequest !== undefined && pullRequest === undefined) return true
  if (!wasResolved(remoteSync)) return true
  if (remoteSync.spec.source.commit !== undefined) return false
  if (isNewWake(remoteSync)) return true
  const rest = pollingInterval(remoteSync, sweepMilliseconds)
  if (rest === undefined) return false
  return lastCheckedAt === undefined || isSweepDue(rest, lastCheckedAt, now)
}

/** When the webhook arrived: the annotation is `<RFC 3339 time>/<delivery id>`. Without a valid time in the past: now. */
export function signalledAt(remoteSync: RemoteSync, now: Date): string {
  const [text = ''] = isNewWake(remoteSync) ? (wakeOf(remoteSync) ?? '').split('/') : []
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return (Number.isNaN(time) ? now : new Date(Math.min(time, now.getTime()))).toISOString()
}
