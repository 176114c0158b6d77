// Asks GitHub which commit the source of a RemoteSync names now, with a token for that one repository. Reads only, and by the repository's id
// only: its name may have passed to a repository of somebody else.
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient, RepositoryFacts } from '../../../github/index.ts'
import { type Halt, halt } from '../halt.ts'

export type CommitReader = Pick<RepositoryClient, 'branch' | 'pullRequest' | 'hasCommit'>

type Repository = {
  readonly id: number
  /** For messages. */
  readonly fullName: string
  /** As GitHub describes it now. */
  readonly current: () => Promise<RepositoryFacts>
}

/** Resolves to the full commit id, or to a halt when there is no such commit or none that may be built. Rejects as the client does. */
export async function findCommit(
  client: CommitReader,
  source: RemoteSync['spec']['source'],
  repository: Repository,
): Promise<string | Halt> {
  const { branch, pullRequest, commit } = source
  if (commit !== undefined) return ownCommit(client, commit, repository)
  if (pullRequest !== undefined) return headOf(client, pullRequest, repository)
  const sha = branch === undefined ? undefined : await client.branch(repository.id, branch)
  if (sha !== undefined) return sha
  const message = `spec.source.branch: ${repository.fullName} has no branch ${branch}: push it, or name another one`
  return halt('Resolved', reasons.branchNotFound, message)
}

/** GitHub serves commits of all forks through every repository of their network: such a commit was pushed by anybody. */
async function ownCommit(client: CommitReader, commit: string, { id, fullName, current }: Repository): Promise<string | Halt> {
  const { defaultBranch } = await current()
  if (await client.hasCommit(id, commit, defaultBranch)) return commit
  const message =
    `spec.source.commit: ${commit} is neither on branch ${defaultBranch} of ${fullName} nor the newest commit of another branch: ` +
    'push a branch that ends at it, or follow a branch'
  return halt('Resolved', reasons.commitNotInRepository, message)
}

async function headOf(client: CommitReader, number: number, { id, fullName }: Repository): Promise<string | Halt> {
  const found = await client.pullRequest(id, number)
  const refused = (reason: string, text: string): Halt => halt('Resolved', reason, `spec.source.pullRequest: ${text}`)
  if (found?.baseRepositoryId !== id) return refused(reasons.pullRequestNotFound, `${fullName} has no pull request ${number}`)
  if (found.state !== 'open')
    return refused(reasons.pullRequestClosed, `pull request ${number} is closed: follow a branch, or delete this RemoteSync`)
  if (found.headRepositoryId === id) return found.headSha
  const text = `pull request ${number} comes from a fork, whose owner would run code here: push its commits to a branch of ${fullName} after a review`
  return refused(reasons.pullRequestFromFork, text)
}
