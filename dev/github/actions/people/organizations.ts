// Owns: what happens to an organization as a whole, and how a member becomes an outside collaborator.
import { membershipOf, repositoryRole } from '../../access.ts'
import type { Context } from '../../context.ts'
import type { Organization, User } from '../../state/accounts.ts'
import { repositoriesOf } from '../../state/world.ts'
import { organizationMembership, simpleOrganization, simpleUser } from '../../views/account.ts'
import { uninstallApp } from '../install-app.ts'
import { leaveOrganization } from '../memberships.ts'
import { Refusal } from '../outcome.ts'
import { deleteRepository } from '../repository/delete.ts'
import { addCollaborator } from './collaborators.ts'

/** Removes the person from the organization and keeps the access that they had to each repository. */
export const makeOutsideCollaborator = (context: Context, organization: Organization, user: User, sender: User): void => {
  if (membershipOf(organization, user.id)?.state !== 'active') {
    throw new Refusal(403, `${user.login} is not a member of the ${organization.login} organization.`)
  }
  const kept = repositoriesOf(context.world, organization.id).flatMap(repository => {
    const role = repositoryRole(context.world, user.id, repository)
    return role === 'none' ? [] : [{ repository, role }]
  })
  leaveOrganization(context, organization, user, sender)
  for (const { repository, role } of kept) addCollaborator(context, repository, user, role, sender)
}

/** Shows or hides an own membership. */
export const publicizeMembership = (context: Context, organization: Organization, user: User, publicized: boolean): void => {
  const membership = membershipOf(organization, user.id)
  if (membership?.state !== 'active') throw new Refusal(404, 'Not Found')
  context.store.change(() => {
    membership.publicized = publicized
  })
}

/** Ends an organization with its repositories, teams and installations. Its login is free at once. */
export const deleteOrganization = async (context: Context, organization: Organization, sender: User): Promise<void> => {
  const membership = membershipOf(organization, sender.id)
  context.webhooks.emit({
    name: 'organization',
    action: 'deleted',
    accountId: organization.id,
    repositoryId: null,
    payload: {
      ...(membership ? { membership: organizationMembership(context, organization, membership, sender) } : {}),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
  for (const one of context.world.installations.filter(one => one.accountId === organization.id)) {
    uninstallApp(context, one, sender.id)
  }
  for (const one of repositoriesOf(context.world, organization.id)) await deleteRepository(context, one, sender)
  context.store.change(world => {
    world.teams = world.teams.filter(one => one.organizationId !== organization.id)
    world.installationRequests = world.installationRequests.filter(one => one.accountId !== organization.id)
    world.organizations = world.organizations.filter(one => one !== organization)
  })
}
