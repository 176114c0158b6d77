// The state of an owned Application, from what it and its RemoteSync report. Pure.

import { type Application, application as applications } from '../../../api/apps/application.ts'
import { type RemoteSync, remoteSyncReasons } from '../../../api/apps/remote-sync.ts'
import { type OwnedState, ownedReasons as reasons } from '../../../api/capabilities/application-owner.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import { stateOfUnready } from '../../../api/reasons/remote-sync-state.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { Refusal } from '../../../policy/check.ts'
import { isEnding } from './last-hook.ts'
import type { Owned } from './owned.ts'

/** What becomes of it, and why. */
export type OwnedStanding = Refusal & { readonly state: OwnedState }

const preparing = (noun: string): OwnedStanding => ({
  state: 'Waiting',
  reason: reasons.preparing,
  message: `the Application and the RemoteSync of the ${noun} are being created`,
})

function ofApplication(application: Application): OwnedStanding | undefined {
  const ready = findCondition(application.status?.conditions, 'Ready')
  if (ready === undefined || ready.status === 'True') return undefined
  return {
    state: goesOnByItself(classOf(applications, ready.reason)) ? 'Building' : 'Failed',
    reason: ready.reason,
    message: ready.message,
  }
}

function ofRemoteSync(remoteSync: RemoteSync, application: Application, noun: string): OwnedStanding {
  const ready = findCondition(remoteSync.status?.conditions, 'Ready')
  if (ready === undefined) return preparing(noun)
  if (ready.reason === remoteSyncReasons.applicationNotReady) {
    const standing = ofApplication(application)
    if (standing !== undefined) return standing
  }
  return { state: stateOfUnready(remoteSync, ready), reason: ready.reason, message: ready.message }
}

/** Whether its end has begun. It is made again, if it must, when it is gone. */
export function isLeaving({ application, remoteSync }: Owned): boolean {
  return isEnding(application) || [application, remoteSync].some(object => object?.metadata.deletionTimestamp !== undefined)
}

/** The newest commit of its source when the RemoteSync last asked GitHub. */
export function headOf({ status }: RemoteSync): string | undefined {
  return status?.pullRequest?.headCommit ?? status?.commit
}

export type StandingOptions = {
  /** What it is called in messages. */
  readonly noun: string
  /** False when the owner names the image, so that there is no RemoteSync. */
  readonly isBuilt: boolean
  /** The newest commit of its source; undefined when GitHub was not asked. */
  readonly headCommit?: string | undefined
}

export function standingOf(owned: Owned, { noun, isBuilt, headCommit }: StandingOptions): OwnedStanding {
  const { application, remoteSync } = owned
  if (isLeaving(owned))
    return { state: 'Removing', reason: reasons.removing, message: `the objects of the ${noun} are being deleted` }
  if (application === undefined || (isBuilt && remoteSync === undefined)) return preparing(noun)
  if (remoteSync === undefined) return ofImage(application, noun)
  const ready = findCondition(remoteSync.status?.conditions, 'Ready')
  if (ready?.status !== 'True') return ofRemoteSync(remoteSync, application, noun)
  if (headCommit !== undefined && headOf(remoteSync) !== headCommit) {
    const message = `commit ${headCommit} of the pull request has not been looked at yet; what was built before keeps serving`
    return { state: 'Building', reason: reasons.newCommit, message }
  }
  return { state: 'Running', reason: reasons.running, message: `the ${noun} runs the newest commit` }
}

/** Where the owner names the image. */
function ofImage(application: Application, noun: string): OwnedStanding {
  const ready = findCondition(application.status?.conditions, 'Ready')
  if (ready === undefined) return preparing(noun)
  return ofApplication(application) ?? { state: 'Running', reason: reasons.running, message: `the ${noun} runs` }
}
