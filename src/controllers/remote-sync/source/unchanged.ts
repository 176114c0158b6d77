// Whether a new commit is not to be built: its message says so, or it changes nothing under `spec.paths`, so that the image of
// an earlier commit is still right. Doubt builds. Reads only.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import { isMeant } from '../../kit/repository/path-filter.ts'
import type { RemoteSyncStatus } from '../status.ts'
import type { FoundCommit } from './pull-request.ts'
import { isNewSpec } from './wake.ts'

/** A commit that is not built, and the commit of the image that stays. */
export type Unbuilt = NonNullable<RemoteSyncStatus['unbuilt']>

export type FileReader = Pick<RepositoryClient, 'changedFiles'>

/** After a change of the spec, or when the commit was unknown, the image may be of other settings or of another source. */
function mayKeepImage({ spec, status }: RemoteSync, isNew: boolean): boolean {
  return !isNew && status?.image !== undefined && status.commit !== undefined && spec.source.commit === undefined
}

/** What was decided about a commit holds until the spec changes: a build of it that runs is not left. */
function isBeingBuilt({ status }: RemoteSync, commit: string): boolean {
  return status?.commit === commit && status.unbuilt?.commit !== commit
}

/**
 * Undefined when the commit has to be built. `skips`: the message of a followed branch's newest commit asks for it. Rejects as
 * the client does.
 */
export async function findUnbuilt(
  client: FileReader,
  remoteSync: RemoteSync,
  repositoryId: number,
  { commit, branch }: Pick<FoundCommit, 'commit' | 'branch'>,
): Promise<Unbuilt | undefined> {
  const { paths } = remoteSync.spec
  const since = remoteSync.status?.imageCommit
  if (since === undefined || since === commit || !mayKeepImage(remoteSync, isNewSpec(remoteSync))) return undefined
  if (isBeingBuilt(remoteSync, commit)) return undefined
  if (branch?.skips === true) return { commit, since, skipped: true }
  if (paths === undefined) return undefined
  const files = await client.changedFiles(repositoryId, since, commit)
  return files === undefined || files.some(file => isMeant(paths, file)) ? undefined : { commit, since }
}

/** Whether the status says so of this commit and of the image that it names now. */
export function isUnbuilt({ unbuilt, image, imageCommit }: RemoteSyncStatus, commit: string): boolean {
  return unbuilt?.commit === commit && unbuilt.since === imageCommit && image !== undefined
}
