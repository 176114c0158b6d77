// Owns: the routes about who belongs to an organization in the open, and who works for it from outside.
// https://docs.github.com/en/rest/orgs/members ; https://docs.github.com/en/rest/orgs/outside-collaborators
import { membershipOf } from '../../access.ts'
import { outsideCollaborators, removeCollaborator } from '../../actions/people/collaborators.ts'
import { makeOutsideCollaborator, publicizeMembership } from '../../actions/people/organizations.ts'
import type { User } from '../../state/accounts.ts'
import { repositoriesOf, userByLogin, userOf } from '../../state/world.ts'
import { simpleUser } from '../../views/account.ts'
import { noContent, notFound, type RestAnswer, RestError } from '../protocol/answer.ts'
import { paged } from '../protocol/page.ts'
import { type OrganizationCall, organizationRoute, type RestRoute, writerOf } from '../route.ts'

const personOf = ({ context, params }: OrganizationCall): User => {
  const user = userByLogin(context.world, params['username'] ?? '')
  if (user?.type !== 'User') throw notFound()
  return user
}

const publicMembers = ({ context, organization, paging }: OrganizationCall): RestAnswer => {
  const shown = organization.memberships.filter(one => one.state === 'active' && one.publicized)
  return paged(paging, shown, one => simpleUser(context, userOf(context.world, one.userId)))
}

const isPublic = (call: OrganizationCall): RestAnswer => {
  const membership = membershipOf(call.organization, personOf(call).id)
  if (membership?.state !== 'active' || !membership.publicized) throw notFound()
  return noContent
}

/** Only the person decides whether others see the membership. */
const publicize =
  (publicized: boolean) =>
  (call: OrganizationCall): RestAnswer => {
    const user = personOf(call)
    if (writerOf(call).id !== user.id) throw new RestError(403, "Cannot change another user's membership visibility.")
    publicizeMembership(call.context, call.organization, user, publicized)
    return noContent
  }

const outside = (call: OrganizationCall): RestAnswer => {
  const { world } = call.context
  return paged(call.paging, outsideCollaborators(call.context, call.organization), id =>
    simpleUser(call.context, userOf(world, id)),
  )
}

const convert = (call: OrganizationCall): RestAnswer => {
  makeOutsideCollaborator(call.context, call.organization, personOf(call), writerOf(call))
  return noContent
}

const removeOutside = (call: OrganizationCall): RestAnswer => {
  const { context, organization } = call
  const user = personOf(call)
  if (membershipOf(organization, user.id)) {
    throw new RestError(422, 'You cannot specify an organization member to remove as an outside collaborator.')
  }
  for (const one of repositoriesOf(context.world, organization.id)) removeCollaborator(context, one, user, writerOf(call))
  return noContent
}

const readMembers = { permission: 'members', level: 'read' } as const
const writeMembers = { permission: 'members', level: 'write' } as const
const member = '/orgs/{org}/public_members/{username}'
const collaborator = '/orgs/{org}/outside_collaborators/{username}'

export const organizationPeopleRoutes: readonly RestRoute[] = [
  organizationRoute(undefined, { method: 'GET', path: '/orgs/{org}/public_members', handle: publicMembers }),
  organizationRoute(undefined, { method: 'GET', path: member, handle: isPublic }),
  organizationRoute(readMembers, { method: 'PUT', path: member, handle: publicize(true) }),
  organizationRoute(readMembers, { method: 'DELETE', path: member, handle: publicize(false) }),
  organizationRoute(readMembers, { method: 'GET', path: '/orgs/{org}/outside_collaborators', handle: outside }),
  organizationRoute(writeMembers, { method: 'PUT', path: collaborator, handle: convert }),
  organizationRoute(writeMembers, { method: 'DELETE', path: collaborator, handle: removeOutside }),
]
