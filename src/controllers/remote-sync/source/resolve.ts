// Asks GitHub which commit the source of a RemoteSync names now, with a token for that one repository. Reads only, and by the
// repository's id only: its name may have passed to a repository of somebody else.
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { BranchHead, RepositoryClient, RepositoryFacts } from '../../../github/index.ts'
import { halt } from '../halt.ts'
import { type Asked, type FoundCommit, findPullRequestCommit, type NoCommit, type PullRequestReader } from './pull-request.ts'

export type CommitReader = PullRequestReader & Pick<RepositoryClient, 'branchHead' | 'hasCommit'>

type Repository = {
  readonly id: number
  /** For messages. */
  readonly fullName: string
  /** As GitHub describes it now. */
  readonly current: () => Promise<RepositoryFacts>
}

/** Resolves to the full commit id, or to why there is no such commit or none that may be built. Rejects as the client does. */
export async function findCommit(
  client: CommitReader,
  { spec, status }: Pick<RemoteSync, 'spec' | 'status'>,
  repository: Repository,
  now: Date,
): Promise<FoundCommit | NoCommit> {
  const { source } = spec
  const { branch, pullRequest, commit } = source
  if (commit !== undefined) return ownCommit(client, commit, repository)
  if (pullRequest !== undefined) {
    const asked: Asked = { repository, source, before: status?.pullRequest, now }
    return findPullRequestCommit(client, pullRequest, asked)
  }
  if (branch === undefined) return defaultBranchOf(client, repository)
  const found = await client.branchHead(repository.id, branch)
  if (found !== undefined) return headOf(found)
  return none(
    reasons.branchNotFound,
    `spec.source.branch: ${repository.fullName} has no branch ${branch}: push it, or name another one`,
  )
}

function headOf({ name, commit, skips }: BranchHead): FoundCommit {
  return { kind: 'commit', commit, branch: { name, skips } }
}

function none(reason: string, message: string): NoCommit {
  return { kind: 'none', halt: halt('Resolved', reason, message) }
}

/** Asked by its present name each time: the default branch may change. */
async function defaultBranchOf(client: CommitReader, { id, fullName, current }: Repository): Promise<FoundCommit | NoCommit> {
  const { defaultBranch } = await current()
  const found = await client.branchHead(id, defaultBranch)
  if (found !== undefined) return headOf(found)
  return none(
    reasons.branchNotFound,
    `the default branch ${defaultBranch} of ${fullName} has no commit: push one, or set spec.source.branch`,
  )
}

/** GitHub serves commits of all forks through every repository of their network: such a commit was pushed by anybody. */
async function ownCommit(
  client: CommitReader,
  commit: string,
  { id, fullName, current }: Repository,
): Promise<FoundCommit | NoCommit> {
  const { defaultBranch } = await current()
  if (await client.hasCommit(id, commit, defaultBranch)) return { kind: 'commit', commit }
  return none(
    reasons.commitNotInRepository,
    `spec.source.commit: ${commit} is neither on branch ${defaultBranch} of ${fullName} nor the newest commit of another branch: ` +
      'push a branch that ends at it, or follow a branch',
  )
}
