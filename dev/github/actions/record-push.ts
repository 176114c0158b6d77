// The consequences of moved refs, after a git push or a merge: timestamps, webhooks, and pull requests. It never moves a
// branch itself.
import { noCommit, type RefUpdate } from '../git/ref-update.ts'
import { timestamp } from '../state/clock.ts'
import { accountOf, fullName } from '../state/github-state.ts'
import { pushedCommit } from '../views/commit.ts'
import { eventFrame } from '../views/event-frame.ts'
import type { RepositoryAction } from './context.ts'
import { followPush } from './pull-requests/events.ts'

/** The most commits that a push event lists. https://docs.github.com/en/webhooks/webhook-events-and-payloads#push */
const maxCommits = 2048

/** The new commits of the push, newest first; for a new branch those that no other branch has. */
async function pushedCommits({ context: { git }, repository }: RepositoryAction, { ref, before, after }: RefUpdate) {
  if (after === noCommit) return []
  if (before !== noCommit) return git.commits(repository.id, before, after, maxCommits)
  const others = ['--not', `--exclude=${ref.replace(/^refs\/heads\//, '')}`, '--branches']
  return git.log(repository.id, [`--max-count=${maxCommits}`, after, ...others])
}

async function pushPayload(action: RepositoryAction, update: RefUpdate) {
  const { context, repository, sender } = action
  const created = update.before === noCommit
  const deleted = update.after === noCommit
  const commits = [...(await pushedCommits(action, update))].reverse().map(one => pushedCommit(context, repository, one))
  const head = deleted ? null : await context.git.commit(repository.id, update.after)
  const forced = !created && !deleted && (await context.git.commits(repository.id, update.after, update.before, 1)).length > 0
  const name = fullName(context.state, repository)
  const short = (sha: string): string => sha.slice(0, 12)
  const frame = eventFrame(context, repository, sender)
  return {
    ref: update.ref,
    before: update.before,
    after: update.after,
    ...frame,
    repository: {
      ...frame.repository,
      owner: { ...frame.repository.owner, name: accountOf(context.state, repository.ownerId).login, email: null },
      created_at: Math.floor(Date.parse(repository.createdAt) / 1000),
      pushed_at: Math.floor(Date.parse(repository.pushedAt) / 1000),
      stargazers: 0,
      master_branch: repository.defaultBranch,
    },
    pusher: { name: sender.login, email: sender.email },
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

/** Records a push and sends its webhooks. `updates` are the refs that really changed, in order. */
export async function recordPush(action: RepositoryAction, updates: readonly RefUpdate[]): Promise<void> {
  const { context, repository } = action
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
      payload: await pushPayload(action, update),
    })
    await followPush(action, update)
  }
}
