// What a RemoteSync's source means right now: the full id of one commit, asked of GitHub with a one-repository token.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../github/index.ts'
import { reasons, type Stop, stop } from './progress.ts'

/** Rejects as the client does; what does not exist is a stop with the cure. */
export async function resolveCommit(
  client: Pick<RepositoryClient, 'branch' | 'pullRequest'>,
  remoteSync: RemoteSync,
  repository: { readonly id: number; readonly fullName: string },
): Promise<string | Stop> {
  const { branch, pullRequest, commit } = remoteSync.spec.source
  if (commit !== undefined) return commit
  if (pullRequest !== undefined) {
    const found = await client.pullRequest(repository.fullName, pullRequest)
    if (found?.baseRepositoryId !== repository.id) {
      const message = `spec.source.pullRequest: ${repository.fullName} has no pull request ${pullRequest}`
      return stop('Resolved', reasons.pullRequestNotFound, message)
    }
    return found.headSha
  }
  const sha = branch === undefined ? undefined : await client.branch(repository.fullName, branch)
  if (sha !== undefined) return sha
  const message = `spec.source.branch: ${repository.fullName} has no branch ${branch}: push it, or name another one`
  return stop('Resolved', reasons.branchNotFound, message)
}
