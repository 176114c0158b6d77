// The routes about teams, by slug and by the numeric forms that GitHub serves beside them.
// https://docs.github.com/en/rest/teams/teams
import { joinTeam, leaveTeam } from '../../actions/memberships.ts'
import type { Team, User } from '../../state/accounts.ts'
import { teamBySlug, userByLogin, userOf } from '../../state/github-state.ts'
import { simpleUser } from '../../views/account.ts'
import { fullTeam, teamWithParent } from '../../views/team.ts'
import { noContent, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type OrganizationCall, organizationRoute, type RestRoute } from '../route.ts'

/** The team that the path names, by its slug or by its id. */
export function teamOf({ context, organization, params }: OrganizationCall): Team {
  const id = params['team_id']
  const team =
    id === undefined
      ? teamBySlug(context.state, organization.id, params['team_slug'] ?? '')
      : context.state.teams.find(one => String(one.id) === id && one.organizationId === organization.id)
  if (!team) throw notFound()
  return team
}

/** Ids of the team and of every team below it: members of child teams count as members of the parent. */
function withDescendants(teams: readonly Team[], team: Team): Set<number> {
  const ids = new Set([team.id])
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const one of teams) if (one.parentId !== null && ids.has(one.parentId)) ids.add(one.id)
  }
  return ids
}

function membersOf(teams: readonly Team[], team: Team): Team['members'] {
  const ids = withDescendants(teams, team)
  const all = teams.filter(one => ids.has(one.id)).flatMap(one => one.members)
  return all.filter((member, at) => all.findIndex(one => one.userId === member.userId) === at)
}

function list(call: OrganizationCall): RestAnswer {
  return paged(
    call.paging,
    call.context.state.teams.filter(one => one.organizationId === call.organization.id),
    one => teamWithParent(call.context, one),
  )
}

function members(call: OrganizationCall): RestAnswer {
  const { context } = call
  const role = call.query.get('role') ?? 'all'
  const found = membersOf(context.state.teams, teamOf(call)).filter(one => role === 'all' || one.role === role)
  return paged(call.paging, found, one => simpleUser(context, userOf(context.state, one.userId)))
}

function membership(call: OrganizationCall): RestAnswer {
  const { context } = call
  const team = teamOf(call)
  const user = userByLogin(context.state, call.params['username'] ?? '')
  const found = user && membersOf(context.state.teams, team).find(one => one.userId === user.id)
  if (!user || !found) throw notFound()
  const url = context.links.api(`/organizations/${call.organization.id}/team/${team.id}/memberships/${user.login}`)
  return ok({ url, role: found.role, state: 'active' })
}

function personOf({ context, params }: OrganizationCall): User {
  const user = userByLogin(context.state, params['username'] ?? '')
  if (!user) throw notFound()
  return user
}

function join(call: OrganizationCall): RestAnswer {
  const role = fieldsOf(call.body, 'TeamMembership').optionalOneOf('role', ['member', 'maintainer'] as const) ?? 'member'
  joinTeam(actionOf(call), teamOf(call), personOf(call), role)
  return membership(call)
}

function leave(call: OrganizationCall): RestAnswer {
  leaveTeam(actionOf(call), teamOf(call), personOf(call))
  return noContent
}

const readMembers = { permission: 'members', level: 'read' } as const
const writeMembers = { permission: 'members', level: 'write' } as const

const team = '/orgs/{org}/teams/{team_slug}'
const person = `${team}/memberships/{username}`

export const teamRoutes: readonly RestRoute[] = [
  organizationRoute(readMembers, { method: 'GET', path: '/orgs/{org}/teams', handle: list }),
  organizationRoute(readMembers, { method: 'GET', path: team, handle: call => ok(fullTeam(call.context, teamOf(call))) }),
  organizationRoute(readMembers, { method: 'GET', path: `${team}/members`, handle: members }),
  organizationRoute(readMembers, { method: 'GET', path: person, handle: membership }),
  organizationRoute(writeMembers, { method: 'PUT', path: person, handle: join }),
  organizationRoute(writeMembers, { method: 'DELETE', path: person, handle: leave }),
]
