// Gives the Applications their former image back when the release of the rebased one failed. It does not wait for the commit,
// which may be failing or in the queue: the image that does not start must not be rolled out again meanwhile.
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Log } from '../../../lib/log.ts'
import type { StatusWriter } from '../../kit/status-writer.ts'
import { type ApplyDeps, applyImage } from '../deployment/apply-image.ts'
import { existingApplications, type Facts } from '../gather.ts'
import { hasGivenUpImage, withRestored } from './decide-restore.ts'

export type RestoreDeps = ApplyDeps & { readonly status: StatusWriter<RemoteSync> }
type Run = { readonly deps: RestoreDeps; readonly facts: Facts; readonly log: Log }

/**
 * The status first: the image that it names is set on the Application at every run. Resolves to the run with the facts as they
 * are afterwards.
 */
export async function restoreImage<Given extends Run>(run: Given): Promise<Given> {
  const { deps, facts, log } = run
  const applications = existingApplications(facts).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (applications.length === 0) return run
  const status = facts.remoteSync.status ?? {}
  const restored = withRestored(applications, status)
  const remoteSync = restored === undefined ? facts.remoteSync : await deps.status.write(facts.remoteSync, restored)
  if (restored !== undefined)
    log.error(
      { build: restored.rebase?.build, reason: restored.rebase?.failure },
      'a rebased image is given up: the former one runs',
    )
  const { image, imageCommit: commit } = restored ?? status
  if (image === undefined || commit === undefined) return { ...run, facts: { ...facts, remoteSync } }
  const applied = new Map<Application, Application | undefined>()
  for (const application of applications.filter(one => hasGivenUpImage(one, restored ?? status)))
    applied.set(application, await applyImage(deps, application, { image, commit, isPromoted: false }))
  const now = (one: Application | undefined) => (one !== undefined && applied.has(one) ? applied.get(one) : one)
  const others = facts.others.map(({ name, application }) => ({ name, application: now(application) }))
  return { ...run, facts: { ...facts, remoteSync, application: now(facts.application), others } }
}
