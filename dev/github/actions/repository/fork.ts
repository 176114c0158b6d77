// Forking a repository into another account: a copy with its own id that records its parent.
// https://docs.github.com/en/rest/repos/forks
import type { Account } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import { newRepository, type Repository } from '../../state/repositories.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { repositoryView } from '../../views/repository.ts'
import type { RepositoryAction } from '../context.ts'
import { claimName, requireFreeName } from './names.ts'

export type Fork = { readonly owner: Account; readonly name: string | undefined; readonly defaultBranchOnly: boolean }

/** Forks, or returns the fork that the account already has. A fork of a private repository is private. */
export async function forkRepository(
  { context, repository: parent, sender }: RepositoryAction,
  wanted: Fork,
): Promise<Repository> {
  const { owner } = wanted
  if (parent.ownerId === owner.id) throw new Refusal(403, 'You cannot fork a repository into the account that it is in.')
  const there = (): Repository | undefined =>
    context.state.repositories.find(one => one.parentId === parent.id && one.ownerId === owner.id)
  const existing = there()
  if (existing) return existing
  const name = wanted.name ?? parent.name
  requireFreeName(context, owner, name)
  const id = context.store.change(nextId)
  await context.git.create(id, parent.defaultBranch)
  await context.git.copy(
    parent.id,
    id,
    wanted.defaultBranchOnly ? [`refs/heads/${parent.defaultBranch}`] : ['refs/heads/*', 'refs/tags/*'],
  )
  // A concurrent request may have forked or taken the name while git was working.
  const meanwhile = there()
  if (meanwhile) {
    await context.git.remove(id)
    return meanwhile
  }
  requireFreeName(context, owner, name)
  const { description, defaultBranch, pushedAt } = parent
  const fork = newRepository(
    { id, ownerId: owner.id, name, description, private: parent.private, createdAt: timestamp(context.now()) },
    { defaultBranch, pushedAt, parentId: parent.id },
  )
  context.store.change(state => {
    state.repositories.push(fork)
    claimName(state, owner.login, name)
  })
  context.webhooks.emit({
    name: 'fork',
    action: null,
    accountId: parent.ownerId,
    repositoryId: parent.id,
    payload: { forkee: repositoryView(context, fork), ...eventFrame(context, parent, sender) },
  })
  return fork
}
