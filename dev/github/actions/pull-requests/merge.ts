// Merging a pull request by a merge commit or one squashed commit, with all its consequences.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges
import { noCommit } from '../../git/ref-update.ts'
import { commitTree, mergedTree } from '../../git/write.ts'
import { timestamp } from '../../state/clock.ts'
import { accountOf, repositoryById } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { PullRequest } from '../../state/repositories.ts'
import type { RepositoryAction } from '../context.ts'
import { recordPush } from '../record-push.ts'
import { emitPullRequest } from './events.ts'

export type MergeOptions = {
  readonly method: 'merge' | 'squash'
  /** The head that the caller has seen; with another head the merge is refused. */
  readonly expectedHead?: string | undefined
  readonly title?: string | undefined
  readonly message?: string | undefined
}

/** Moves the base branch unless a concurrent push has moved it. */
async function moveBase(
  { context: { git }, repository }: RepositoryAction,
  pull: PullRequest,
  from: string,
  to: string,
): Promise<void> {
  const ref = `refs/heads/${pull.base.ref}`
  try {
    await git.updateRef(repository.id, ref, to, from)
  } catch (error) {
    if ((await git.resolve(repository.id, ref)) === from) throw error
    throw new Refusal(409, 'Base branch was modified. Review and try the merge again.')
  }
}

function requireMergeable(pull: PullRequest, options: MergeOptions): void {
  if (pull.state !== 'open' || pull.draft) throw new Refusal(405, 'Pull Request is not mergeable')
  if (options.expectedHead !== undefined && options.expectedHead !== pull.head.sha) {
    throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
  }
}

/** The commit to which the base branch will move, or `undefined` when the two conflict. */
async function resultOf(
  { context, repository, sender }: RepositoryAction,
  pull: PullRequest,
  options: MergeOptions,
  base: string,
): Promise<string | undefined> {
  const head = pull.head.sha
  const tree = await mergedTree(context.git, repository.id, base, head)
  if (tree === undefined) return undefined
  const squash = options.method === 'squash'
  const headRepository = repositoryById(context.state, pull.head.repositoryId)
  const owner = headRepository ? accountOf(context.state, headRepository.ownerId).login : 'unknown'
  const title =
    options.title ??
    (squash ? `${pull.title} (#${pull.number})` : `Merge pull request #${pull.number} from ${owner}/${pull.head.ref}`)
  return commitTree(context.git, repository.id, {
    tree,
    parents: squash ? [base] : [base, head],
    message: `${title}\n\n${options.message ?? (squash ? '' : pull.title)}`.trimEnd().concat('\n'),
    author: sender,
    at: context.now(),
  })
}

/** Deletes the head branch of a closed pull request, if it is a branch of the repository itself. */
export async function deleteHeadBranch(action: RepositoryAction, pull: PullRequest): Promise<void> {
  const { context, repository } = action
  if (pull.state === 'open') throw new Refusal(422, 'The pull request is open.')
  if (pull.head.repositoryId !== repository.id) throw new Refusal(422, 'The branch belongs to another repository.')
  const ref = `refs/heads/${pull.head.ref}`
  const before = await context.git.resolve(repository.id, ref)
  if (before === undefined) throw new Refusal(422, 'Reference does not exist')
  await context.git.updateRef(repository.id, ref, undefined, before)
  await recordPush(action, [{ ref, before, after: noCommit }])
}

/** Merges an open pull request and resolves to the new commit of the base branch. */
export async function mergePullRequest(action: RepositoryAction, pull: PullRequest, options: MergeOptions): Promise<string> {
  const { context, repository, sender } = action
  requireMergeable(pull, options)
  const base = await context.git.resolve(repository.id, `refs/heads/${pull.base.ref}`)
  const sha = base === undefined ? undefined : await resultOf(action, pull, options, base)
  if (base === undefined || sha === undefined) throw new Refusal(405, 'Pull Request is not mergeable')
  await moveBase(action, pull, base, sha)
  context.store.change(() => {
    const at = timestamp(context.now())
    Object.assign(pull, {
      state: 'closed',
      mergedAt: at,
      mergedById: sender.id,
      mergeCommitSha: sha,
      closedAt: at,
      updatedAt: at,
    })
  })
  await recordPush(action, [{ ref: `refs/heads/${pull.base.ref}`, before: base, after: sha }])
  await emitPullRequest(action, pull, 'closed')
  return sha
}
