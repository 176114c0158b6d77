// Gives an Application its former image back when the release of the rebased one failed. It does not wait for the commit, which
// may be failing or in the queue: the image that does not start must not be rolled out again meanwhile.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Log } from '../../../lib/log.ts'
import type { StatusWriter } from '../../kit/status-writer.ts'
import { decide } from '../decide.ts'
import { type ApplyDeps, applyImage } from '../deployment/apply-image.ts'
import { desiredApplication } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { hasGivenUpImage, withRestored } from './decide-restore.ts'

export type RestoreDeps = ApplyDeps & { readonly status: StatusWriter<RemoteSync> }

/**
 * The status first: the image that it names is set on the Application at every run. Resolves to the facts as they are
 * afterwards.
 */
export async function restoreImage(deps: RestoreDeps, facts: Facts, log: Log): Promise<Facts> {
  const { application } = facts
  if (application === undefined || application.metadata.deletionTimestamp !== undefined || decide(facts)) return facts
  const status = facts.remoteSync.status ?? {}
  const restored = withRestored(application, status)
  const remoteSync = restored === undefined ? facts.remoteSync : await deps.status.write(facts.remoteSync, restored)
  if (restored !== undefined)
    log.error(
      { build: restored.rebase?.build, reason: restored.rebase?.failure },
      'a rebased image is given up: the former one runs',
    )
  const { image, imageCommit: commit } = restored ?? status
  if (image === undefined || commit === undefined || !hasGivenUpImage(application, restored ?? status))
    return { ...facts, remoteSync }
  const applied = await applyImage(deps, desiredApplication(application, { image, commit, isPromoted: false }))
  return { ...facts, remoteSync, application: applied }
}
