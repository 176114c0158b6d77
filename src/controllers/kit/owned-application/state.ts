// The state of a preview that exists, from what its RemoteSync and its Application report. Pure.

import type { PreviewState } from '../../../api/apps/app-pipeline/status.ts'
import { appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import { type RemoteSync, remoteSyncReasons } from '../../../api/apps/remote-sync.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { Standing } from '../../app-pipeline/choose.ts'
import type { Preview } from '../../app-pipeline/gather.ts'
import type { BranchTip } from '../../app-pipeline/pull-requests/known.ts'
import { isEnding } from './last-hook.ts'

/** The reasons of a RemoteSync that is on its way; those that nothing of the pull request can change are waits. */
const stateOfReason: Readonly<Record<string, PreviewState>> = {
  [remoteSyncReasons.fetching]: 'Building',
  [remoteSyncReasons.building]: 'Building',
  [remoteSyncReasons.queued]: 'Building',
  [remoteSyncReasons.rollingOut]: 'Building',
  [remoteSyncReasons.buildFailed]: 'Failed',
  [remoteSyncReasons.buildTimedOut]: 'Failed',
  [remoteSyncReasons.wrongCommit]: 'Failed',
  [remoteSyncReasons.commitNotProven]: 'Failed',
  [remoteSyncReasons.commitNotFound]: 'Failed',
  [remoteSyncReasons.sourceTooLarge]: 'Failed',
  [remoteSyncReasons.sourceMalformed]: 'Failed',
  [remoteSyncReasons.sourceIncomplete]: 'Failed',
  [remoteSyncReasons.buildSettingRefused]: 'Failed',
  [remoteSyncReasons.buildSecretNotFound]: 'Failed',
  [remoteSyncReasons.grantDenied]: 'Failed',
  [remoteSyncReasons.grantConflict]: 'Failed',
  [remoteSyncReasons.applicationTaken]: 'Failed',
  [remoteSyncReasons.mergeConflict]: 'Conflict',
  [remoteSyncReasons.approvalMissing]: 'WaitingForApproval',
  [remoteSyncReasons.suspended]: 'Paused',
}

/** Reasons of an Application that becomes ready by itself. */
const onTheWay: readonly string[] = [
  applicationReasons.waitingForImage,
  applicationReasons.rollingOut,
  applicationReasons.releaseJobRunning,
  applicationReasons.rightMissing,
]

const preparing: Standing = {
  state: 'Waiting',
  reason: reasons.preparing,
  message: 'the Application and the RemoteSync of the preview are being created',
}

function ofApplication(application: Application): Standing | undefined {
  const ready = findCondition(application.status?.conditions, 'Ready')
  if (ready === undefined || ready.status === 'True') return undefined
  return { state: onTheWay.includes(ready.reason) ? 'Building' : 'Failed', reason: ready.reason, message: ready.message }
}

function ofRemoteSync(remoteSync: RemoteSync, application: Application): Standing {
  const ready = findCondition(remoteSync.status?.conditions, 'Ready')
  if (ready === undefined) return preparing
  if (ready.reason === remoteSyncReasons.applicationNotReady) {
    const standing = ofApplication(application)
    if (standing !== undefined) return standing
  }
  return { state: stateOfReason[ready.reason] ?? 'Waiting', reason: ready.reason, message: ready.message }
}

/** Whether the end of the preview has begun. It is made again, if it must, when it is gone. */
export function isLeaving({ application, remoteSync }: Preview): boolean {
  return isEnding(application) || [application, remoteSync].some(object => object?.metadata.deletionTimestamp !== undefined)
}

/** The head of the pull request when the RemoteSync last asked GitHub. */
export function headOf({ status }: RemoteSync): string | undefined {
  return status?.pullRequest?.headCommit ?? status?.commit
}

/**
 * Whether the RemoteSync does not know the newest commit of the pull request, or runs a merge commit that was made of another commit than `tip`, or is in
 * conflict with another one. While it waits for a merge commit it asks by itself, and what it resolved after the tip was asked for is newer.
 */
export function isBehind(remoteSync: RemoteSync, headCommit: string, tip: BranchTip | undefined): boolean {
  const known = headOf(remoteSync)
  if (known === undefined) return false
  if (known !== headCommit) return true
  const { pullRequest, phases } = remoteSync.status ?? {}
  const { baseCommit, conflictSince } = pullRequest ?? {}
  if (tip === undefined || baseCommit === undefined || baseCommit === tip.commit) return false
  return !(Date.parse(conflictSince ?? phases?.resolvedAt ?? '') > tip.askedAt.getTime())
}

/** `headCommit`: the newest commit of the pull request; undefined when GitHub was not asked. */
export function standingOf(preview: Preview, headCommit: string | undefined): Standing {
  const { application, remoteSync } = preview
  if (isLeaving(preview))
    return { state: 'Removing', reason: reasons.removing, message: 'the objects of the preview are being deleted' }
  if (application === undefined || remoteSync === undefined) return preparing
  const ready = findCondition(remoteSync.status?.conditions, 'Ready')
  if (ready?.status !== 'True') return ofRemoteSync(remoteSync, application)
  if (headCommit !== undefined && headOf(remoteSync) !== headCommit) {
    const message = `commit ${headCommit} of the pull request has not been looked at yet; what was built before keeps serving`
    return { state: 'Building', reason: reasons.newCommit, message }
  }
  return { state: 'Running', reason: reasons.running, message: 'the preview runs the newest commit' }
}
