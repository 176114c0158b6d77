// Owns: what follows when refs of a repository have moved, by git or by a merge: times, pull requests that follow their branch, and
// webhooks. Never moves a branch itself.
import { noCommit, type RefUpdate } from '../git/ref-update.ts'
import type { User } from '../state/accounts.ts'
import { timestamp } from '../state/clock.ts'
import type { Repository } from '../state/repositories.ts'
import { accountOf, fullName } from '../state/world.ts'
import { pushedCommit } from '../views/commit.ts'
import { eventFrame } from '../views/event-frame.ts'
import { requestSuites } from './checks/suites.ts'
import type { ActionContext } from './context.ts'
import { followPush } from './pull-requests/events.ts'

/** A push event lists no more commits than this. https://docs.github.com/en/webhooks/webhook-events-and-payloads#push */
const mostCommits = 2048

/** Commits of a new branch that no other branch has. */
function newCommits({ git }: ActionContext, repository: Repository, update: RefUpdate) {
  return git.log(repository.id, [
    `--max-count=${mostCommits}`,
    update.after,
    '--not',
    `--exclude=${update.ref.replace(/^refs\/heads\//, '')}`,
    '--branches',
  ])
}

async function pushPayload(context: ActionContext, repository: Repository, update: RefUpdate, pusher: User) {
  const created = update.before === noCommit
  const deleted = update.after === noCommit
  const listed = deleted
    ? []
    : await (created
        ? newCommits(context, repository, update)
        : context.git.commits(repository.id, update.before, update.after, mostCommits))
  const commits = [...listed].reverse().map(commit => pushedCommit(context, repository, commit))
  const head = deleted ? null : await context.git.commit(repository.id, update.after)
  const forced = !created && !deleted && (await context.git.commits(repository.id, update.after, update.before, 1)).length > 0
  const name = fullName(context.world, repository)
  const short = (sha: string): string => sha.slice(0, 12)
  const frame = eventFrame(context, repository, pusher)
  return {
    ref: update.ref,
    before: update.before,
    after: update.after,
    ...frame,
    repository: {
      ...frame.repository,
      owner: { ...frame.repository.owner, name: accountOf(context.world, repository.ownerId).login, email: null },
      created_at: Math.floor(Date.parse(repository.createdAt) / 1000),
      pushed_at: Math.floor(Date.parse(repository.pushedAt) / 1000),
      stargazers: 0,
      master_branch: repository.defaultBranch,
    },
    pusher: { name: pusher.login, email: pusher.email },
    created,
    deleted,
    forced,
    base_ref: null,
    compare: context.links.web(
      created ? `/${name}/commit/${short(update.after)}` : `/${name}/compare/${short(update.before)}...${short(update.after)}`,
    ),
    commits,
    head_commit: head && pushedCommit(context, repository, head),
  }
}

/** Writes a push down and tells who listens. `updates` are what really changed, in order. */
export async function recordPush(
  context: ActionContext,
  repository: Repository,
  pusher: User,
  updates: readonly RefUpdate[],
): Promise<void> {
  const visible = updates.filter(update => /^refs\/(?:heads|tags)\//.test(update.ref))
  if (visible.length === 0) return
  context.store.change(() => {
    repository.pushedAt = timestamp(context.now())
    repository.updatedAt = repository.pushedAt
  })
  for (const update of visible) {
    context.webhooks.emit({
      name: 'push',
      action: null,
      accountId: repository.ownerId,
      repositoryId: repository.id,
      payload: await pushPayload(context, repository, update, pusher),
    })
    await followPush(context, repository, pusher, update)
    await requestSuites(context, repository, pusher, update)
  }
}
