// Changes of a repository: its name, visibility, archiving and settings, with one webhook per change. The id never changes.
// https://docs.github.com/en/rest/repos/repos#update-a-repository
import { timestamp } from '../../state/clock.ts'
import { accountOf } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { RepositoryAction } from '../context.ts'
import { emitRepository } from './event.ts'
import { claimName, leaveName, requireFreeName } from './names.ts'

export type RepositoryChange = {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly private?: boolean | undefined
  readonly archived?: boolean | undefined
  readonly defaultBranch?: string | undefined
}

/** The old name leads here until another repository takes it. */
function rename(action: RepositoryAction, name: string): void {
  const { context, repository } = action
  if (name === repository.name) return
  const owner = accountOf(context.state, repository.ownerId)
  requireFreeName(context, owner, name, repository)
  const from = repository.name
  context.store.change(state => {
    leaveName(state, repository)
    repository.name = name
    claimName(state, owner.login, name)
  })
  emitRepository(action, 'renamed', { changes: { repository: { name: { from } } } })
}

function setPrivate(action: RepositoryAction, isPrivate: boolean): void {
  const { context, repository } = action
  if (isPrivate === repository.private) return
  context.store.change(() => {
    repository.private = isPrivate
  })
  emitRepository(action, isPrivate ? 'privatized' : 'publicized')
}

/** An archived repository is read-only until it is unarchived. */
function setArchived(action: RepositoryAction, archived: boolean): void {
  const { context, repository } = action
  if (archived === repository.archived) return
  context.store.change(() => {
    repository.archived = archived
  })
  emitRepository(action, archived ? 'archived' : 'unarchived')
}

async function setDefaultBranch(action: RepositoryAction, branch: string): Promise<void> {
  const { context, repository } = action
  if (branch === repository.defaultBranch) return
  if ((await context.git.resolve(repository.id, `refs/heads/${branch}`)) === undefined) {
    const message = `The branch ${branch} was not found. Please push that ref first or create it via the Git Data API.`
    throw new Refusal(422, 'Validation Failed', [{ resource: 'Repository', field: 'default_branch', code: 'invalid', message }])
  }
  await context.git.setHead(repository.id, branch)
  const from = repository.defaultBranch
  context.store.change(() => {
    repository.defaultBranch = branch
  })
  emitRepository(action, 'edited', { changes: { default_branch: { from } } })
}

function describe(action: RepositoryAction, description: string): void {
  const { context, repository } = action
  const from = repository.description
  if (from === description) return
  context.store.change(() => {
    repository.description = description
  })
  emitRepository(action, 'edited', { changes: { description: { from } } })
}

/** Makes the requested changes in the order of this list. An archived repository must be unarchived by the same request. */
export async function changeRepository(action: RepositoryAction, change: RepositoryChange): Promise<void> {
  const { context, repository } = action
  if (repository.archived && change.archived !== false) throw new Refusal(403, 'Repository was archived so is read-only.')
  if (change.archived === false) setArchived(action, false)
  if (change.name !== undefined) rename(action, change.name)
  if (change.description !== undefined) describe(action, change.description)
  if (change.private !== undefined) setPrivate(action, change.private)
  if (change.defaultBranch !== undefined) await setDefaultBranch(action, change.defaultBranch)
  context.store.change(() => {
    repository.updatedAt = timestamp(context.now())
  })
  if (change.archived === true) setArchived(action, true)
}
