// Owns: merging a pull request by a merge commit or one squashed commit, and what follows from it.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges
import { noCommit } from '../../git/ref-update.ts'
import { commitTree, mergedTree } from '../../git/write.ts'
import type { User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import { accountOf, repositoryById } from '../../state/world.ts'
import type { ActionContext } from '../context.ts'
import { recordPush } from '../record-push.ts'
import { tellPullRequest } from './events.ts'

export type MergeWish = {
  readonly method: 'merge' | 'squash'
  /** The head that the caller looked at; another one refuses the merge. */
  readonly expectedHead: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
}

/** Moves the base branch unless somebody pushed to it in between. */
async function moveBase(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  from: string,
  to: string,
): Promise<void> {
  const ref = `refs/heads/${pull.base.ref}`
  try {
    await context.git.updateRef(repository.id, ref, to, from)
  } catch (error) {
    if ((await context.git.resolve(repository.id, ref)) === from) throw error
    throw new Refusal(409, 'Base branch was modified. Review and try the merge again.')
  }
}

function requireMergeable(pull: PullRequest, wish: MergeWish): void {
  if (pull.state !== 'open' || pull.draft) throw new Refusal(405, 'Pull Request is not mergeable')
  if (wish.expectedHead !== undefined && wish.expectedHead !== pull.head.sha) {
    throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
  }
}

/** The commit that the base branch will point at, or `undefined` when the two conflict. */
async function resultOf(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  wish: MergeWish,
  base: string,
): Promise<string | undefined> {
  const head = pull.head.sha
  const tree = await mergedTree(context.git, repository.id, base, head)
  if (tree === undefined) return undefined
  const squash = wish.method === 'squash'
  const headRepository = repositoryById(context.world, pull.head.repositoryId)
  const owner = headRepository ? accountOf(context.world, headRepository.ownerId).login : 'unknown'
  const title =
    wish.title ??
    (squash ? `${pull.title} (#${pull.number})` : `Merge pull request #${pull.number} from ${owner}/${pull.head.ref}`)
  return commitTree(context.git, repository.id, {
    tree,
    parents: squash ? [base] : [base, head],
    message: `${title}\n\n${wish.message ?? (squash ? '' : pull.title)}`.trimEnd().concat('\n'),
    author: actor,
    at: context.now(),
  })
}

/** Removes the head branch of a pull request that is done; only one of the repository itself is ever removed. */
export async function deleteHeadBranch(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
): Promise<void> {
  if (pull.state === 'open') throw new Refusal(422, 'The pull request is open.')
  if (pull.head.repositoryId !== repository.id) throw new Refusal(422, 'The branch belongs to another repository.')
  const ref = `refs/heads/${pull.head.ref}`
  const before = await context.git.resolve(repository.id, ref)
  if (before === undefined) throw new Refusal(422, 'Reference does not exist')
  await context.git.updateRef(repository.id, ref, undefined, before)
  await recordPush(context, repository, actor, [{ ref, before, after: noCommit }])
}

/** Merges an open pull request and answers the new commit of the base branch. */
export async function mergePullRequest(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  wish: MergeWish,
): Promise<string> {
  requireMergeable(pull, wish)
  const base = await context.git.resolve(repository.id, `refs/heads/${pull.base.ref}`)
  const sha = base === undefined ? undefined : await resultOf(context, repository, pull, actor, wish, base)
  if (base === undefined || sha === undefined) throw new Refusal(405, 'Pull Request is not mergeable')
  await moveBase(context, repository, pull, base, sha)
  context.store.change(() => {
    const at = timestamp(context.now())
    Object.assign(pull, { state: 'closed', mergedAt: at, mergedById: actor.id, mergeCommitSha: sha, closedAt: at, updatedAt: at })
  })
  await recordPush(context, repository, actor, [{ ref: `refs/heads/${pull.base.ref}`, before: base, after: sha }])
  await tellPullRequest(context, repository, pull, actor, 'closed')
  return sha
}
