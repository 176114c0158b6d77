// Renames a branch, with what GitHub does of itself: the former name redirects, pull requests into the branch follow, those from
// it are closed, and the default branch stays the default one. The webhooks are those of the two refs and of each change.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
import { noCommit } from '../../git/ref-update.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { RepositoryAction } from '../context.ts'
import { emitPullRequest } from '../pull-requests/events.ts'
import { recordPush } from '../record-push.ts'
import { emitRepository } from './event.ts'

const refOf = (branch: string): string => `refs/heads/${branch}`

/** Open pull requests into the branch go into the renamed one. */
async function followBase(action: RepositoryAction, from: string, to: string): Promise<void> {
  const { context, repository } = action
  const into = context.state.pullRequests.filter(
    one => one.state === 'open' && one.repositoryId === repository.id && one.base.ref === from,
  )
  for (const pull of into) {
    context.store.change(() => {
      pull.base.ref = to
      pull.updatedAt = timestamp(context.now())
    })
    await emitPullRequest(action, pull, 'edited', { changes: { base: { ref: { from }, sha: { from: pull.base.sha } } } })
  }
}

/** A default branch is set before the former name goes, so that there is always one. */
async function followDefault(action: RepositoryAction, from: string, to: string): Promise<void> {
  const { context, repository } = action
  if (repository.defaultBranch !== from) return
  await context.git.setHead(repository.id, to)
  context.store.change(() => {
    repository.defaultBranch = to
  })
  emitRepository(action, 'edited', { changes: { default_branch: { from } } })
}

/** Refuses a branch that does not exist, and a name that another branch has. */
export async function renameBranch(action: RepositoryAction, from: string, to: string): Promise<void> {
  const { context, repository } = action
  const { git } = context
  const sha = await git.resolve(repository.id, refOf(from))
  if (sha === undefined) throw new Refusal(404, 'Branch not found')
  if ((await git.resolve(repository.id, refOf(to))) !== undefined)
    throw new Refusal(422, 'Validation Failed', [{ resource: 'Branch', field: 'name', code: 'already_exists' }])
  await git.updateRef(repository.id, refOf(to), sha)
  context.store.change(() => {
    const { [to]: _taken, ...former } = repository.formerBranches ?? {}
    repository.formerBranches = { ...former, [from]: to }
  })
  await recordPush(action, [{ ref: refOf(to), before: noCommit, after: sha }])
  await followDefault(action, from, to)
  await followBase(action, from, to)
  await git.updateRef(repository.id, refOf(from), undefined, sha)
  await recordPush(action, [{ ref: refOf(from), before: sha, after: noCommit }])
}
