// Why an Application has no image yet: what the RemoteSync that builds it says, or that none does. Pure.
import { applicationReasons as reasons } from '../../../api/apps/application.ts'
import { applicationsOf } from '../../../api/apps/remote-sync/applications.ts'
import { type RemoteSync, remoteSync, remoteSyncReasons } from '../../../api/apps/remote-sync.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import { printable } from '../../../lib/text/printable.ts'
import type { Check, Refusal } from '../../../policy/check.ts'
import type { Facts } from '../facts.ts'

/** Of a message that a condition quotes: what is wrong stands in its first line, and below it the end of a log. */
const maxQuote = 1000

const readyOf = ({ status }: RemoteSync) => findCondition(status?.conditions, 'Ready')

/** All that is read of a RemoteSync here: other changes of it do not wake the Application. */
export function imageStandOf(sync: RemoteSync): unknown {
  const { status, reason, message } = readyOf(sync) ?? {}
  return [
    ...applicationsOf(sync.spec),
    sync.metadata.deletionTimestamp,
    status,
    reason,
    reason === remoteSyncReasons.building || message,
  ]
}

/** The oldest that does not give way to another one. */
function builderOf(syncs: readonly RemoteSync[]): RemoteSync | undefined {
  const time = ({ metadata }: RemoteSync): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  const all = syncs
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => compareText(time(a), time(b)))
  return all.find(sync => readyOf(sync)?.reason !== remoteSyncReasons.applicationTaken) ?? all[0]
}

/** Exported for its table of reasons. */
export function missingImage(syncs: readonly RemoteSync[]): Refusal {
  const sync = builderOf(syncs)
  if (sync === undefined)
    return { reason: reasons.waitingForImage, message: 'spec.image is not set: create a RemoteSync that builds it, or set it' }
  const who = `RemoteSync ${sync.metadata.name}`
  const ready = readyOf(sync)
  if (ready === undefined || ready.status === 'True')
    return { reason: reasons.waitingForImage, message: `${who} has not built the image yet` }
  // The steps of a build pass quickly: the RemoteSync itself shows them.
  const said = ready.reason === remoteSyncReasons.building ? 'the build is running' : (ready.message.split('\n')[0] ?? '')
  const message = `${who}: ${ready.reason}: ${printable(said.slice(0, maxQuote))}`
  // A reason of another version of the platform is a wait.
  const goesOn = goesOnByItself(classOf(remoteSync, ready.reason) ?? 'machine')
  return { reason: goesOn ? reasons.waitingForImage : reasons.imageNotBuilt, message }
}

/** Stops an Application that has nothing to run yet. */
export const hasImage: Check<Facts> = ({ application: { spec }, releases: { syncs } }) =>
  spec.image === undefined ? missingImage(syncs) : undefined
