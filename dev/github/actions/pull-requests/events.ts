// Owns: telling the world about a pull request, and keeping one in step with its branches. Never opens, merges or closes one.
import { noCommit, type RefUpdate } from '../../git/ref-update.ts'
import type { User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import { repositoryById } from '../../state/world.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { fullPullRequest } from '../../views/pull-request.ts'
import type { ActionContext } from '../context.ts'
import { pullRequestFacts } from './facts.ts'

/** Sends `pull_request` with the given action and whatever that action adds to the payload. */
export async function tellPullRequest(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  sender: User,
  action: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  context.webhooks.emit({
    name: 'pull_request',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      number: pull.number,
      pull_request: fullPullRequest(context, pull, await pullRequestFacts(context, pull)),
      ...more,
      ...eventFrame(context, repository, sender),
    },
  })
}

async function close(context: ActionContext, repository: Repository, pull: PullRequest, actor: User): Promise<void> {
  const at = timestamp(context.now())
  context.store.change(() => Object.assign(pull, { state: 'closed', closedAt: at, updatedAt: at }))
  await tellPullRequest(context, repository, pull, actor, 'closed')
}

/** The repository that the pull request is in; deleting it takes the pull request along. */
function baseOf(context: ActionContext, pull: PullRequest): Repository {
  const repository = repositoryById(context.world, pull.repositoryId)
  if (!repository) throw new Error(`pull request ${pull.id} belongs to repository ${pull.repositoryId}, which does not exist`)
  return repository
}

/** Moves open pull requests whose head branch was pushed (`synchronize`), and closes those whose head or base branch is gone. */
export async function followPush(context: ActionContext, repository: Repository, pusher: User, update: RefUpdate): Promise<void> {
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1]
  if (branch === undefined) return
  const open = context.world.pullRequests.filter(one => one.state === 'open')
  const following = open.filter(one => one.head.repositoryId === repository.id && one.head.ref === branch)
  const based = open.filter(one => one.repositoryId === repository.id && one.base.ref === branch)
  if (update.after === noCommit) {
    for (const pull of new Set([...following, ...based])) await close(context, baseOf(context, pull), pull, pusher)
    return
  }
  context.store.change(() => {
    for (const pull of based) pull.base.sha = update.after
  })
  for (const pull of following) {
    context.store.change(() => {
      pull.head.sha = update.after
      pull.updatedAt = timestamp(context.now())
    })
    if (pull.repositoryId !== repository.id) await context.git.borrow(repository.id, pull.repositoryId, update.after)
    await context.git.updateRef(pull.repositoryId, `refs/pull/${pull.number}/head`, update.after)
    await tellPullRequest(context, baseOf(context, pull), pull, pusher, 'synchronize', {
      before: update.before,
      after: update.after,
    })
  }
}
