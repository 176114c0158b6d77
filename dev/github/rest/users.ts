// The routes about the person of the token and about other people. https://docs.github.com/en/rest/users/users
import { acceptMembership } from '../actions/memberships.ts'
import { atLeast, membershipOf, permissionOnOrganization } from '../state/access.ts'
import type { Organization, User } from '../state/accounts.ts'
import { accountById, organizationByLogin } from '../state/github-state.ts'
import { organizationMembership, privateUser, publicUser, simpleOrganization } from '../views/account.ts'
import { fullTeam } from '../views/team.ts'
import type { RestContext } from './context.ts'
import { invalidField, notAccessible, notFound, ok, type RestAnswer } from './protocol/answer.ts'
import { fieldsOf } from './protocol/body.ts'
import { paged } from './protocol/page.ts'
import { publicRoute, type RestCall, type RestRoute, type UserCall, userRoute } from './route.ts'

/** Organizations of the person that this token may list: for a token of an App, those in which the App may read members. */
function organizationsOf({ context, actor, user, app }: UserCall): Organization[] {
  return context.state.organizations.filter(
    one =>
      membershipOf(one, user.id)?.state === 'active' &&
      (app === undefined || atLeast(permissionOnOrganization(context.state, actor, one, 'members'), 'read')),
  )
}

function membershipAnswer(context: RestContext, organization: Organization, user: User): RestAnswer {
  const membership = membershipOf(organization, user.id)
  if (!membership) throw notFound()
  return ok(organizationMembership(context, organization, membership, user))
}

/** Whether the App of the token may read the members of the organization; a pending membership of the person does not matter. */
function appMayReadMembers({ context, app }: UserCall, organization: Organization): boolean {
  if (!app) return true
  const installation = context.state.installations.find(one => one.appId === app.id && one.accountId === organization.id)
  return (
    installation !== undefined &&
    installation.suspendedAt === null &&
    atLeast(installation.permissions['members'] ?? 'none', 'read')
  )
}

function ownMembership(call: UserCall): RestAnswer {
  const organization = organizationByLogin(call.context.state, call.params['org'] ?? '')
  if (!organization || !membershipOf(organization, call.user.id)) throw notFound()
  if (!appMayReadMembers(call, organization)) throw notAccessible()
  return membershipAnswer(call.context, organization, call.user)
}

function accept(call: UserCall): RestAnswer {
  const organization = organizationByLogin(call.context.state, call.params['org'] ?? '')
  if (!organization || !membershipOf(organization, call.user.id)) throw notFound()
  if (!appMayReadMembers(call, organization)) throw notAccessible()
  if (fieldsOf(call.body, 'Membership').text('state', 20) !== 'active') throw invalidField('Membership', 'state', 'invalid')
  return ok(
    organizationMembership(
      call.context,
      organization,
      acceptMembership({ context: call.context, organization, sender: call.user }),
      call.user,
    ),
  )
}

function showAccount(call: RestCall, account: ReturnType<typeof accountById>): RestAnswer {
  if (!account) throw notFound()
  const { actor } = call
  const own = (actor.kind === 'user' || actor.kind === 'person') && actor.user.id === account.id
  return ok(own && account.kind === 'user' ? privateUser(call.context, account) : publicUser(call.context, account))
}

export const userRoutes: readonly RestRoute[] = [
  userRoute({ method: 'GET', path: '/user', handle: ({ context, user }) => ok(privateUser(context, user)) }),
  userRoute({
    method: 'GET',
    path: '/user/orgs',
    handle: call => paged(call.paging, organizationsOf(call), one => simpleOrganization(call.context, one)),
  }),
  userRoute({
    method: 'GET',
    path: '/user/teams',
    handle: call => {
      const organizations = new Set(organizationsOf(call).map(one => one.id))
      const teams = call.context.state.teams.filter(
        team => organizations.has(team.organizationId) && team.members.some(member => member.userId === call.user.id),
      )
      return paged(call.paging, teams, team => fullTeam(call.context, team))
    },
  }),
  userRoute({ method: 'GET', path: '/user/memberships/orgs/{org}', handle: ownMembership }),
  userRoute({ method: 'PATCH', path: '/user/memberships/orgs/{org}', handle: accept }),
  publicRoute({
    method: 'GET',
    path: '/user/{account_id}',
    handle: call => {
      const id = call.params['account_id'] ?? ''
      return showAccount(call, /^\d{1,15}$/.test(id) ? accountById(call.context.state, Number(id)) : undefined)
    },
  }),
]
