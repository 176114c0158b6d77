// What a release that failed means for the image that was rebased for it: the former image is the image again, and the run
// image is not tried once more. Pure. Otherwise every later change of the Application would be rolled out on an image that does
// not start.
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { RemoteSyncStatus } from '../status.ts'

/** Of a release that does not run, while the one before it does. */
const failedRelease: readonly string[] = [
  applicationReasons.rolledBack,
  applicationReasons.releaseJobFailed,
  applicationReasons.releaseJobTimedOut,
]

/** Why the release of this very image does not run; undefined when it does, or that is not known yet. */
function failureOf({ metadata, spec, status }: Application, image: string, former: string): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready')
  if (spec.image !== image || ready?.observedGeneration !== metadata.generation || ready?.status !== 'False') return undefined
  // A later release of the same image gives way to one of it, too: then the image is not the cause.
  return status?.image === former && failedRelease.includes(ready.reason) ? ready.message : undefined
}

/** The status with the former image, which is that of all Applications; undefined when there is nothing to restore. */
export function withRestored(applications: readonly Application[], status: RemoteSyncStatus): RemoteSyncStatus | undefined {
  const { image, rebase } = status
  if (rebase?.former === undefined || image === undefined || rebase.image !== image) return undefined
  const { former, ...failed } = rebase
  const [message] = applications.flatMap(application => failureOf(application, image, former.image) ?? [])
  if (message === undefined) return undefined
  const failure = `the Application did not run on it: ${message}`.slice(0, 2048)
  return { ...status, ...former, rebase: { ...failed, failure } }
}

/** Whether an Application still has the image that the status has given up: the process ended in between. */
export function hasGivenUpImage({ spec }: Application, { image, imageCommit, rebase }: RemoteSyncStatus): boolean {
  if (rebase?.failure === undefined || rebase.image === undefined || rebase.image === image) return false
  return spec.image === rebase.image && spec.commit === imageCommit
}
