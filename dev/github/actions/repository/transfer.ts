// Owns: moving a repository to another account. The id stays, the old name leads on, installations of both accounts hear of it.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/transferring-a-repository
import { administers } from '../../state/access.ts'
import type { Account, User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { accountOf } from '../../state/world.ts'
import { simpleOrganization, simpleUser } from '../../views/account.ts'
import type { ActionContext } from '../context.ts'
import { tellRepository } from './event.ts'
import { installationsWith, settleReach } from './installation-access.ts'
import { claimName, leaveName, requireFreeName } from './names.ts'

export type Transfer = { readonly newOwner: Account; readonly newName: string | undefined; readonly teamIds: readonly number[] }

function formerOwner(context: ActionContext, account: Account) {
  return account.kind === 'organization'
    ? { organization: simpleOrganization(context, account) }
    : { user: simpleUser(context, account) }
}

function move(context: ActionContext, repository: Repository, from: Account, { newOwner, newName, teamIds }: Transfer): void {
  context.store.change(world => {
    leaveName(world, repository)
    repository.ownerId = newOwner.id
    repository.name = newName ?? repository.name
    repository.updatedAt = timestamp(context.now())
    claimName(world, newOwner.login, repository.name)
    // Teams stay behind; the person who gave it away keeps access.
    for (const team of world.teams) {
      team.repositories = team.repositories.filter(one => one.repositoryId !== repository.id)
      if (team.organizationId === newOwner.id && teamIds.includes(team.id))
        team.repositories.push({ repositoryId: repository.id, role: 'read' })
    }
    repository.collaborators = repository.collaborators.filter(one => one.userId !== newOwner.id && one.userId !== from.id)
    if (from.kind === 'user') repository.collaborators.push({ userId: from.id, role: 'write' })
  })
}

/**
 * Moves the repository at once. Only somebody who administers the receiving account may give it one: the request for consent that
 * GitHub sends to a receiving person has no counterpart here.
 */
export function transferRepository(context: ActionContext, repository: Repository, actor: User, wanted: Transfer): void {
  const from = accountOf(context.world, repository.ownerId)
  if (!administers(context.world, actor.id, wanted.newOwner.id)) {
    throw new Refusal(403, `You don't have the permission to create repositories on ${wanted.newOwner.login}`)
  }
  if (wanted.newOwner.id === from.id) throw new Refusal(422, 'The repository already belongs to this account.')
  requireFreeName(context, wanted.newOwner, wanted.newName ?? repository.name)
  const before = installationsWith(context, repository)
  move(context, repository, from, wanted)
  settleReach(context, repository, before, installationsWith(context, repository), actor.id)
  tellRepository(context, repository, actor, 'transferred', { changes: { owner: { from: formerOwner(context, from) } } })
}
