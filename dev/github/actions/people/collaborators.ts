// Direct collaborators of a repository, with the `member` webhooks. A new one has access at once, as on an Enterprise Server,
// without an invitation. https://docs.github.com/en/rest/collaborators/collaborators
import type { RepositoryRole, User } from '../../state/accounts.ts'
import { Refusal } from '../../state/refusal.ts'
import { simpleUser } from '../../views/account.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { olderWord } from '../../views/role.ts'
import type { RepositoryAction } from '../context.ts'

function emitMember(
  { context, repository, sender }: RepositoryAction,
  user: User,
  action: 'added' | 'edited' | 'removed',
  changes?: Readonly<Record<string, unknown>>,
): void {
  context.webhooks.emit({
    name: 'member',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: { member: simpleUser(context, user), ...(changes ? { changes } : {}), ...eventFrame(context, repository, sender) },
  })
}

/** Gives a person a role on the repository, or changes the role. */
export function addCollaborator(action: RepositoryAction, user: User, role: RepositoryRole): void {
  const { context, repository } = action
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
  emitMember(action, user, from === undefined ? 'added' : 'edited', changes)
}

/** Removes the direct role. Roles from teams and the organization stay. */
export function removeCollaborator(action: RepositoryAction, user: User): void {
  const { context, repository } = action
  if (!repository.collaborators.some(one => one.userId === user.id)) return
  context.store.change(() => {
    repository.collaborators = repository.collaborators.filter(one => one.userId !== user.id)
  })
  emitMember(action, user, 'removed')
}
