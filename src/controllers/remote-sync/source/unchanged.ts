// Whether a new commit changes nothing under `spec.paths`, so that the image of an earlier commit is still right. Doubt builds.
// Reads only.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import { isMeant } from '../../kit/repository/path-filter.ts'
import type { RemoteSyncStatus } from '../status.ts'
import { isNewSpec } from './wake.ts'

/** A commit that is not built, and the commit of the image that stays. */
export type Unbuilt = NonNullable<RemoteSyncStatus['unbuilt']>

export type FileReader = Pick<RepositoryClient, 'changedFiles'>

/** Undefined when the commit has to be built. Rejects as the client does. */
export async function findUnbuilt(
  client: FileReader,
  remoteSync: RemoteSync,
  repositoryId: number,
  commit: string,
): Promise<Unbuilt | undefined> {
  const { spec, status } = remoteSync
  const { paths } = spec
  const { imageCommit, image } = status ?? {}
  // After a change of the spec, or when the commit was unknown, the image may be of other settings or of another source.
  if (paths === undefined || image === undefined || imageCommit === undefined || imageCommit === commit) return undefined
  if (isNewSpec(remoteSync) || status?.commit === undefined || spec.source.commit !== undefined) return undefined
  const files = await client.changedFiles(repositoryId, imageCommit, commit)
  return files === undefined || files.some(file => isMeant(paths, file)) ? undefined : { commit, since: imageCommit }
}

/** Whether the status says so of this commit and of the image that it names now. */
export function isUnbuilt({ unbuilt, image, imageCommit }: RemoteSyncStatus, commit: string): boolean {
  return unbuilt?.commit === commit && unbuilt.since === imageCommit && image !== undefined
}
