// Writes what became of each Release into its status, and deletes those that are not kept and the Jobs of earlier ones. Called
// after the Application's status was written: both follow from it, so a run after a crash does what is left.

import { releaseDefaults } from '../../../api/apps/application/releases.ts'
import type { Application } from '../../../api/apps/application.ts'
import { type Release, type ReleaseHeader, release as releases } from '../../../api/apps/release.ts'
import { jobs as jobTypes } from '../../../api/builtin/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { StatusWriter } from '../../kit/status-writer.ts'
import type { ReleaseFacts } from './release-content.ts'
import { surplusJobs } from './release-job.ts'
import { nextOutcome, surplusReleases } from './release-status.ts'
import { deleteAll, type ReleaseTarget } from './write-releases.ts'

type Deps = {
  readonly client: ReleaseTarget['client']
  readonly outcomes: Pick<StatusWriter<Release>, 'latest' | 'write'>
  readonly clock: Clock
}

/**
 * `status`: the Application's, as it was just written. Knows the Releases that the cache shows; a newer one wakes the
 * Application.
 */
export async function keepReleases(
  { client, outcomes, clock }: Deps,
  { application, releases: { headers, jobs } }: { readonly application: Application; readonly releases: ReleaseFacts },
  status: NonNullable<Application['status']>,
): Promise<void> {
  const { spec } = application
  for (const header of headers) {
    // The writer compares and writes the status only; it never looks at the spec, which is not whole here.
    const release = outcomes.latest(header as Release)
    const next = nextOutcome(release as ReleaseHeader, status, clock.now())
    if (next) await outcomes.write(release, next)
  }
  const limits = { kept: spec.releasesKept ?? releaseDefaults.kept, pinned: spec.pinnedRelease }
  await deleteAll({ client, application }, releases, surplusReleases(headers, status, limits))
  await deleteAll({ client, application }, jobTypes, surplusJobs(jobs))
}
