// Moving a repository to another account. The id stays, the old name leads to it, and installations of both accounts are
// notified. https://docs.github.com/en/repositories/creating-and-managing-repositories/transferring-a-repository
import { administers } from '../../state/access.ts'
import type { Account } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { accountOf } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { simpleOrganization, simpleUser } from '../../views/account.ts'
import type { ActionContext, RepositoryAction } from '../context.ts'
import { emitRepository } from './event.ts'
import { changeInstallations, installationsWith } from './installation-access.ts'
import { claimName, leaveName, requireFreeName } from './names.ts'

export type Transfer = { readonly newOwner: Account; readonly newName: string | undefined; readonly teamIds: readonly number[] }

function formerOwner(context: ActionContext, account: Account) {
  return account.kind === 'organization'
    ? { organization: simpleOrganization(context, account) }
    : { user: simpleUser(context, account) }
}

function move(context: ActionContext, repository: Repository, from: Account, { newOwner, newName, teamIds }: Transfer): void {
  context.store.change(state => {
    leaveName(state, repository)
    repository.ownerId = newOwner.id
    repository.name = newName ?? repository.name
    repository.updatedAt = timestamp(context.now())
    claimName(state, newOwner.login, repository.name)
    // Teams of the old owner lose access; a person who transferred their own repository keeps it.
    for (const team of state.teams) {
      team.repositories = team.repositories.filter(one => one.repositoryId !== repository.id)
      if (team.organizationId === newOwner.id && teamIds.includes(team.id))
        team.repositories.push({ repositoryId: repository.id, role: 'read' })
    }
    repository.collaborators = repository.collaborators.filter(one => one.userId !== newOwner.id && one.userId !== from.id)
    if (from.kind === 'user') repository.collaborators.push({ userId: from.id, role: 'write' })
  })
}

/**
 * Moves the repository at once. The sender must administer the receiving account; GitHub's request for the consent of a
 * receiving person does not exist here.
 */
export function transferRepository(action: RepositoryAction, wanted: Transfer): void {
  const { context, repository, sender } = action
  const from = accountOf(context.state, repository.ownerId)
  if (!administers(context.state, sender.id, wanted.newOwner.id)) {
    throw new Refusal(403, `You don't have the permission to create repositories on ${wanted.newOwner.login}`)
  }
  if (wanted.newOwner.id === from.id) throw new Refusal(422, 'The repository already belongs to this account.')
  requireFreeName(context, wanted.newOwner, wanted.newName ?? repository.name)
  const before = installationsWith(context, repository)
  move(context, repository, from, wanted)
  changeInstallations(action, before, installationsWith(context, repository))
  emitRepository(action, 'transferred', { changes: { owner: { from: formerOwner(context, from) } } })
}
