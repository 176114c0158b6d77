// Owns: who may use a repository by name: direct collaborators, with the `member` events.
// https://docs.github.com/en/rest/collaborators/collaborators
import type { RepositoryRole, User } from '../../state/accounts.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { simpleUser } from '../../views/account.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { olderWord } from '../../views/role.ts'
import type { ActionContext } from '../context.ts'

function tellMember(
  context: ActionContext,
  repository: Repository,
  user: User,
  sender: User,
  action: 'added' | 'edited' | 'removed',
  changes: Readonly<Record<string, unknown>> | undefined,
): void {
  context.webhooks.emit({
    name: 'member',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: { member: simpleUser(context, user), ...(changes ? { changes } : {}), ...eventFrame(context, repository, sender) },
  })
}

/** Gives a person a role on the repository, or another one than before. */
export function addCollaborator(
  context: ActionContext,
  repository: Repository,
  user: User,
  role: RepositoryRole,
  sender: User,
): void {
  if (user.id === repository.ownerId) throw new Refusal(422, 'Repository owner cannot be a collaborator')
  const existing = repository.collaborators.find(one => one.userId === user.id)
  if (existing?.role === role) return
  const from = existing?.role
  context.store.change(() => {
    if (existing) existing.role = role
    else repository.collaborators.push({ userId: user.id, role })
  })
  const to = olderWord(role)
  const changes =
    from === undefined
      ? { permission: { to }, role_name: { to: role } }
      : { old_permission: { from: olderWord(from) }, permission: { from: olderWord(from), to } }
  tellMember(context, repository, user, sender, from === undefined ? 'added' : 'edited', changes)
}

/** Takes the direct role away. What teams and the organization give stays. */
export function removeCollaborator(context: ActionContext, repository: Repository, user: User, sender: User): void {
  const had = repository.collaborators.some(one => one.userId === user.id)
  context.store.change(() => {
    repository.collaborators = repository.collaborators.filter(one => one.userId !== user.id)
  })
  if (had) tellMember(context, repository, user, sender, 'removed', undefined)
}
