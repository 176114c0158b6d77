// Owns: who may use a repository by name: direct collaborators and invitations to become one, with the `member` events.
// https://docs.github.com/en/rest/collaborators/collaborators
import { membershipOf } from '../../access.ts'
import { timestamp } from '../../clock.ts'
import type { Context } from '../../context.ts'
import type { Organization, RepositoryRole, User } from '../../state/accounts.ts'
import type { Repository, RepositoryInvitation } from '../../state/repositories.ts'
import { nextId, organizationById, repositoriesOf } from '../../state/world.ts'
import { simpleUser } from '../../views/account.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { olderWord } from '../../views/role.ts'
import { Refusal } from '../outcome.ts'

const tellMember = (
  context: Context,
  repository: Repository,
  user: User,
  sender: User,
  action: 'added' | 'edited' | 'removed',
  changes: Readonly<Record<string, unknown>> | undefined,
): void =>
  context.webhooks.emit({
    name: 'member',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: { member: simpleUser(context, user), ...(changes ? { changes } : {}), ...eventFrame(context, repository, sender) },
  })

/** Gives a person a role on the repository, or another one than before. */
export const addCollaborator = (
  context: Context,
  repository: Repository,
  user: User,
  role: RepositoryRole,
  sender: User,
): void => {
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

/** Takes the direct role away, or withdraws the invitation. What teams and the organization give stays. */
export const removeCollaborator = (context: Context, repository: Repository, user: User, sender: User): void => {
  const had = repository.collaborators.some(one => one.userId === user.id)
  context.store.change(world => {
    repository.collaborators = repository.collaborators.filter(one => one.userId !== user.id)
    world.repositoryInvitations = world.repositoryInvitations.filter(
      one => one.repositoryId !== repository.id || one.inviteeId !== user.id,
    )
  })
  if (had) tellMember(context, repository, user, sender, 'removed', undefined)
}

/**
 * Whether the person gets access at once: GitHub Enterprise Server asks nobody, and members of the organization need no invitation.
 */
const needsInvitation = (context: Context, repository: Repository, user: User): boolean => {
  if (context.settings.flavour === 'enterprise-server') return false
  if (repository.collaborators.some(one => one.userId === user.id)) return false
  const organization = organizationById(context.world, repository.ownerId)
  return !organization || membershipOf(organization, user.id)?.state !== 'active'
}

/** Adds a collaborator, or invites somebody from outside; answers the invitation if there is one now. */
export const offerAccess = (
  context: Context,
  repository: Repository,
  user: User,
  role: RepositoryRole,
  sender: User,
): RepositoryInvitation | undefined => {
  if (user.id === repository.ownerId) throw new Refusal(422, 'Repository owner cannot be a collaborator')
  if (!needsInvitation(context, repository, user)) {
    addCollaborator(context, repository, user, role, sender)
    return undefined
  }
  const pending = context.world.repositoryInvitations.find(one => one.repositoryId === repository.id && one.inviteeId === user.id)
  return context.store.change(world => {
    if (pending) {
      pending.role = role
      return pending
    }
    const made: RepositoryInvitation = {
      id: nextId(world),
      repositoryId: repository.id,
      inviteeId: user.id,
      inviterId: sender.id,
      role,
      createdAt: timestamp(context.now()),
    }
    world.repositoryInvitations.push(made)
    return made
  })
}

/** Ends an invitation: declined or withdrawn. */
export const dropInvitation = (context: Context, invitation: RepositoryInvitation): void => {
  context.store.change(world => {
    world.repositoryInvitations = world.repositoryInvitations.filter(one => one !== invitation)
  })
}

/** People with a direct role on repositories of the organization who are no members of it. */
export const outsideCollaborators = (context: Context, organization: Organization): readonly number[] => {
  const direct = repositoriesOf(context.world, organization.id).flatMap(one => one.collaborators.map(person => person.userId))
  return [...new Set(direct)].filter(id => membershipOf(organization, id)?.state !== 'active')
}
