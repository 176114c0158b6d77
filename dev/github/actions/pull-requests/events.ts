// The `pull_request` webhooks, and the changes of pull requests after a push to their branches. It never opens or merges one.
import { noCommit, type RefUpdate } from '../../git/ref-update.ts'
import { timestamp } from '../../state/clock.ts'
import { repositoryById } from '../../state/github-state.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { fullPullRequest } from '../../views/pull-requests/pull-request.ts'
import type { ActionContext, RepositoryAction } from '../context.ts'
import { pullRequestFacts } from './facts.ts'

/** Sends `pull_request` with the given action and the additional fields of that action. */
export async function emitPullRequest(
  { context, repository, sender }: RepositoryAction,
  pull: PullRequest,
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

/** The repository that has the pull request; deleting it removes the pull request too. */
function baseOf(context: ActionContext, pull: PullRequest): Repository {
  const repository = repositoryById(context.state, pull.repositoryId)
  if (!repository) throw new Error(`pull request ${pull.id} belongs to repository ${pull.repositoryId}, which does not exist`)
  return repository
}

async function close(action: RepositoryAction, pull: PullRequest): Promise<void> {
  const at = timestamp(action.context.now())
  action.context.store.change(() => Object.assign(pull, { state: 'closed', closedAt: at, updatedAt: at }))
  await emitPullRequest({ ...action, repository: baseOf(action.context, pull) }, pull, 'closed')
}

async function synchronize(action: RepositoryAction, pull: PullRequest, { before, after }: RefUpdate): Promise<void> {
  const { context, repository } = action
  context.store.change(() => {
    pull.head.sha = after
    pull.updatedAt = timestamp(context.now())
  })
  if (pull.repositoryId !== repository.id) await context.git.borrow(repository.id, pull.repositoryId, after)
  await context.git.updateRef(pull.repositoryId, `refs/pull/${pull.number}/head`, after)
  await emitPullRequest({ ...action, repository: baseOf(context, pull) }, pull, 'synchronize', { before, after })
}

/**
 * After a push: synchronizes open pull requests whose head branch moved, and closes those whose head or base branch was
 * deleted.
 */
export async function followPush(action: RepositoryAction, update: RefUpdate): Promise<void> {
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1]
  if (branch === undefined) return
  const { context, repository } = action
  const open = context.state.pullRequests.filter(one => one.state === 'open')
  const fromBranch = open.filter(one => one.head.repositoryId === repository.id && one.head.ref === branch)
  const ontoBranch = open.filter(one => one.repositoryId === repository.id && one.base.ref === branch)
  if (update.after === noCommit) {
    for (const pull of new Set([...fromBranch, ...ontoBranch])) await close(action, pull)
    return
  }
  context.store.change(() => {
    for (const pull of ontoBranch) pull.base.sha = update.after
  })
  for (const pull of fromBranch) await synchronize(action, pull, update)
}
