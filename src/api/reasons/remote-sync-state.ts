// What a RemoteSync that is not ready means for its commit: the same for a branch and for a preview. Pure.
import type { PreviewState } from '../apps/app-pipeline/status.ts'
import { type RemoteSync, remoteSyncReasons as reasons, remoteSync } from '../apps/remote-sync.ts'
import type { Condition } from '../resource.ts'
import { classOf, type ReasonClass } from './reason.ts'

export type UnreadyState = Extract<PreviewState, 'Waiting' | 'WaitingForApproval' | 'Building' | 'Failed' | 'Conflict' | 'Paused'>

const ofReason: ReadonlyMap<string, UnreadyState> = new Map([
  [reasons.mergeConflict, 'Conflict'],
  [reasons.approvalMissing, 'WaitingForApproval'],
])

type ByClass = Readonly<Record<ReasonClass, UnreadyState>>

/** Before the commit is known, what a RemoteSync waits for says nothing about a commit. */
const unresolved: ByClass = {
  ready: 'Waiting',
  progress: 'Waiting',
  machine: 'Waiting',
  person: 'Waiting',
  failed: 'Failed',
  intended: 'Paused',
}
const resolved: ByClass = { ...unresolved, ready: 'Building', progress: 'Building', person: 'Failed' }

/** Whether GitHub has said which commit is the newest; `status.commit` is an earlier one otherwise. */
export function isResolved({ status }: RemoteSync): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Resolved' && is === 'True') === true
}

/** `reason`: of its condition Ready, which is not True. A reason of another version of the platform is a wait. */
export function stateOfUnready(object: RemoteSync, { reason }: Pick<Condition, 'reason'>): UnreadyState {
  return ofReason.get(reason) ?? (isResolved(object) ? resolved : unresolved)[classOf(remoteSync, reason) ?? 'machine']
}
