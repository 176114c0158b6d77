// Owns: changing what a repository is called, who sees it, whether it is archived, and its settings, with one event per change.
// The id never changes. The caller has checked the permissions. https://docs.github.com/en/rest/repos/repos#update-a-repository
import type { User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { accountOf } from '../../state/world.ts'
import type { ActionContext } from '../context.ts'
import { tellRepository } from './event.ts'
import { claimName, leaveName, requireFreeName } from './names.ts'

export type RepositoryChange = {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly private?: boolean | undefined
  readonly archived?: boolean | undefined
  readonly defaultBranch?: string | undefined
}

/** Renames; the old name leads here until another repository takes it. */
export function renameRepository(context: ActionContext, repository: Repository, actor: User, name: string): void {
  if (name === repository.name) return
  const owner = accountOf(context.world, repository.ownerId)
  requireFreeName(context, owner, name, repository)
  const from = repository.name
  context.store.change(world => {
    leaveName(world, repository)
    repository.name = name
    claimName(world, owner.login, name)
  })
  tellRepository(context, repository, actor, 'renamed', { changes: { repository: { name: { from } } } })
}

function setPrivate(context: ActionContext, repository: Repository, actor: User, isPrivate: boolean): void {
  if (isPrivate === repository.private) return
  context.store.change(() => {
    repository.private = isPrivate
  })
  tellRepository(context, repository, actor, isPrivate ? 'privatized' : 'publicized')
}

/** An archived repository can be read and nothing else, until it is unarchived. */
function setArchived(context: ActionContext, repository: Repository, actor: User, archived: boolean): void {
  if (archived === repository.archived) return
  context.store.change(() => {
    repository.archived = archived
  })
  tellRepository(context, repository, actor, archived ? 'archived' : 'unarchived')
}

async function setDefaultBranch(context: ActionContext, repository: Repository, actor: User, branch: string): Promise<void> {
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
  tellRepository(context, repository, actor, 'edited', { changes: { default_branch: { from } } })
}

function describe(context: ActionContext, repository: Repository, actor: User, description: string): void {
  const from = repository.description
  if (from === description) return
  context.store.change(() => {
    repository.description = description
  })
  tellRepository(context, repository, actor, 'edited', { changes: { description: { from } } })
}

/** Makes the changes that are asked for, in the order of this list. An archived repository must be unarchived by the same request. */
export async function changeRepository(
  context: ActionContext,
  repository: Repository,
  actor: User,
  change: RepositoryChange,
): Promise<void> {
  if (repository.archived && change.archived !== false) throw new Refusal(403, 'Repository was archived so is read-only.')
  if (change.archived === false) setArchived(context, repository, actor, false)
  if (change.name !== undefined) renameRepository(context, repository, actor, change.name)
  if (change.description !== undefined) describe(context, repository, actor, change.description)
  if (change.private !== undefined) setPrivate(context, repository, actor, change.private)
  if (change.defaultBranch !== undefined) await setDefaultBranch(context, repository, actor, change.defaultBranch)
  context.store.change(() => {
    repository.updatedAt = timestamp(context.now())
  })
  if (change.archived === true) setArchived(context, repository, actor, true)
}
