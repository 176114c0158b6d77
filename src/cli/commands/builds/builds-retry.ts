// `sekisho builds retry`: another attempt at the newest commit of a RemoteSync, whose build failed.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { AppError } from '../../../lib/errors.ts'
import { absent, fieldManager, found } from '../../kubernetes/cluster.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { shortId } from './awaited-build.ts'
import { syncNamed } from './named-sync.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean }

const attempts = 5

/** The commit that gets another attempt. Throws `conflict`, with what is to do instead, when there is nothing to retry. Pure. */
export function failedCommitOf(sync: RemoteSync): string {
  const { metadata, spec, status } = sync
  const { name } = metadata
  if (controllerOf(sync)?.kind === 'AppPipeline')
    throw new AppError('conflict', `${name} belongs to a preview: push to its pull request, or close and reopen it`)
  if (spec.suspend === true) throw new AppError('conflict', `${name} is suspended: set spec.suspend to false first`)
  const { commit, failedCommit, failure } = status ?? {}
  if (failedCommit === undefined || failedCommit !== commit) {
    const about = commit === undefined ? 'no commit is known yet' : `nothing failed at the newest commit, ${shortId(commit)}`
    throw new AppError('conflict', `${name}: ${about}; sekisho why remotesync/${name} shows where it is`)
  }
  // Another attempt at a source that cannot be built would say the same.
  if (failure?.stage === 'Fetched' && failure.reason.startsWith('Source'))
    throw new AppError('conflict', `${name}: ${failure.reason} is the same at every attempt: ${failure.message}`)
  return failedCommit
}

/** Sets `spec.retriedAt` to the present time; the platform then asks GitHub in the name of the person who did. */
export async function buildsRetry(context: ClusterContext, options: Options, given: string): Promise<void> {
  const name = await syncNamed(context, given)
  const { cluster, clock, terminal } = context
  const { client, namespace } = cluster
  const dryRun = options.dryRun === true
  for (let attempt = 1; ; attempt += 1) {
    const before = await found(cluster, remoteSyncs, name)
    const commit = failedCommitOf(before)
    const retriedAt = clock.now().toISOString()
    const patch = { metadata: { resourceVersion: before.metadata.resourceVersion }, spec: { retriedAt } }
    try {
      const after = await client.mergePatch(remoteSyncs, { name, namespace }, patch, { fieldManager, dryRun })
      const { requestedBy } = (after ?? (await absent(cluster, remoteSyncs, name))).spec
      const inOtherName = requestedBy === before.spec.requestedBy ? '' : `, from now on in the name of ${requestedBy}`
      const text = (): string =>
        dryRun
          ? `commit ${shortId(commit)} of ${name} would be built again (dry run)`
          : `commit ${shortId(commit)} of ${name} is built again${inOtherName}; sekisho builds logs -f ${name} shows it`
      return await present(terminal, options.output, { value: { remoteSync: name, commit, retriedAt, dryRun }, text })
    } catch (error) {
      if (!isKubeError(error, 409) || attempt === attempts) throw error
    }
  }
}
