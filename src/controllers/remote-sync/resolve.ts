// Asks GitHub which commit the source of a RemoteSync names now, with a token for that one repository. Reads only.
import { type RemoteSync, remoteSyncReasons as reasons } from '../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../github/index.ts'
import { type Halt, halt } from './halt.ts'

/** Resolves to the full commit id, or to a halt when the branch or pull request does not exist. Rejects as the client does. */
export async function findCommit(
  client: Pick<RepositoryClient, 'branch' | 'pullRequest'>,
  source: RemoteSync['spec']['source'],
  repository: { readonly id: number; readonly fullName: string },
): Promise<string | Halt> {
  const { branch, pullRequest, commit } = source
  if (commit !== undefined) return commit
  if (pullRequest !== undefined) {
    const found = await client.pullRequest(repository.fullName, pullRequest)
    if (found?.baseRepositoryId === repository.id) return found.headSha
    const message = `spec.source.pullRequest: ${repository.fullName} has no pull request ${pullRequest}`
    return halt('Resolved', reasons.pullRequestNotFound, message)
  }
  const sha = branch === undefined ? undefined : await client.branch(repository.fullName, branch)
  if (sha !== undefined) return sha
  const message = `spec.source.branch: ${repository.fullName} has no branch ${branch}: push it, or name another one`
  return halt('Resolved', reasons.branchNotFound, message)
}
