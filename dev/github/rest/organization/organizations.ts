// The routes about organizations and their members. https://docs.github.com/en/rest/orgs/members
import { leaveOrganization, setRole } from '../../actions/memberships.ts'
import { membershipOf } from '../../state/access.ts'
import { userByLogin, userOf } from '../../state/github-state.ts'
import { fullOrganization, organizationMembership, simpleUser } from '../../views/account.ts'
import { noContent, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type OrganizationCall, organizationRoute, type RestRoute } from '../route.ts'

function show({ context, organization }: OrganizationCall): RestAnswer {
  return ok(fullOrganization(context, organization))
}

function membership({ context, organization, params }: OrganizationCall): RestAnswer {
  const user = userByLogin(context.state, params['username'] ?? '')
  const found = user && membershipOf(organization, user.id)
  if (!user || !found) throw notFound()
  return ok(organizationMembership(context, organization, found, user))
}

function members({ context, organization, paging, query }: OrganizationCall): RestAnswer {
  const role = query.get('role') ?? 'all'
  const active = organization.memberships.filter(one => one.state === 'active' && (role === 'all' || one.role === role))
  return paged(paging, active, one => simpleUser(context, userOf(context.state, one.userId)))
}

function setMembership(call: OrganizationCall): RestAnswer {
  const { context, organization, params, body } = call
  const user = userByLogin(context.state, params['username'] ?? '')
  if (user?.type !== 'User') throw notFound()
  const role = fieldsOf(body, 'Membership').optionalOneOf('role', ['admin', 'member'] as const) ?? 'member'
  return ok(organizationMembership(context, organization, setRole(actionOf(call), user, role), user))
}

function removeMember(call: OrganizationCall): RestAnswer {
  const { context, params } = call
  const user = userByLogin(context.state, params['username'] ?? '')
  if (!user) throw notFound()
  leaveOrganization(actionOf(call), user)
  return noContent
}

const readMembers = { permission: 'members', level: 'read' } as const
const writeMembers = { permission: 'members', level: 'write' } as const

export const organizationRoutes: readonly RestRoute[] = [
  organizationRoute(undefined, { method: 'GET', path: '/orgs/{org}', handle: show }),
  organizationRoute(readMembers, { method: 'GET', path: '/orgs/{org}/memberships/{username}', handle: membership }),
  organizationRoute(writeMembers, { method: 'PUT', path: '/orgs/{org}/memberships/{username}', handle: setMembership }),
  organizationRoute(writeMembers, { method: 'DELETE', path: '/orgs/{org}/memberships/{username}', handle: removeMember }),
  organizationRoute(readMembers, { method: 'GET', path: '/orgs/{org}/members', handle: members }),
]
