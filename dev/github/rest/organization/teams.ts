// Owns: the routes about teams, by slug and by the numeric forms that GitHub serves beside them.
// https://docs.github.com/en/rest/teams/teams
import { joinTeam, leaveTeam } from '../../actions/memberships.ts'
import { type RepositoryRole, repositoryRoles, type Team, type User } from '../../state/accounts.ts'
import { repositoryById, teamBySlug, userByLogin, userOf } from '../../state/world.ts'
import { simpleUser } from '../../views/account.ts'
import { minimalRepository } from '../../views/repository.ts'
import { roleFlags } from '../../views/role.ts'
import { fullTeam, teamWithParent } from '../../views/team.ts'
import { noContent, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { type Method, type OrganizationCall, organizationRoute, type RestRoute, writerOf } from '../route.ts'

/** The team of the path, by slug or id. */
export const teamOf = ({ context, organization, params }: OrganizationCall): Team => {
  const id = params['team_id']
  const team =
    id === undefined
      ? teamBySlug(context.world, organization.id, params['team_slug'] ?? '')
      : context.world.teams.find(one => String(one.id) === id && one.organizationId === organization.id)
  if (!team) throw notFound()
  return team
}

/** Ids of the team and of every team below it: members of child teams count as members of the parent. */
const withDescendants = (teams: readonly Team[], team: Team): Set<number> => {
  const ids = new Set([team.id])
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const one of teams) if (one.parentId !== null && ids.has(one.parentId)) ids.add(one.id)
  }
  return ids
}

const membersOf = (teams: readonly Team[], team: Team): Team['members'] => {
  const ids = withDescendants(teams, team)
  const all = teams.filter(one => ids.has(one.id)).flatMap(one => one.members)
  return all.filter((member, at) => all.findIndex(one => one.userId === member.userId) === at)
}

const list = (call: OrganizationCall): RestAnswer =>
  paged(
    call.paging,
    call.context.world.teams.filter(one => one.organizationId === call.organization.id),
    one => teamWithParent(call.context, one),
  )

const members = (call: OrganizationCall): RestAnswer => {
  const { context } = call
  const role = call.query.get('role') ?? 'all'
  const found = membersOf(context.world.teams, teamOf(call)).filter(one => role === 'all' || one.role === role)
  return paged(call.paging, found, one => simpleUser(context, userOf(context.world, one.userId)))
}

const membership = (call: OrganizationCall): RestAnswer => {
  const { context } = call
  const team = teamOf(call)
  const user = userByLogin(context.world, call.params['username'] ?? '')
  const found = user && membersOf(context.world.teams, team).find(one => one.userId === user.id)
  if (!user || !found) throw notFound()
  const url = context.links.api(`/organizations/${call.organization.id}/team/${team.id}/memberships/${user.login}`)
  return ok({ url, role: found.role, state: 'active' })
}

/** The team and the teams above it: what they were given is the team's too. */
const withAncestors = (teams: readonly Team[], team: Team): readonly Team[] => {
  const line = [team]
  for (let at: Team | undefined = team; at; ) {
    const above: number | null = at.parentId
    at = teams.find(one => one.id === above && !line.includes(one))
    if (at) line.push(at)
  }
  return line
}

/** What the team has on a repository, by itself or from a team above it; the strongest wins. */
export const roleOfTeam = (teams: readonly Team[], team: Team, repositoryId: number): RepositoryRole => {
  const roles = withAncestors(teams, team).flatMap(one => one.repositories.filter(given => given.repositoryId === repositoryId))
  return repositoryRoles.findLast(role => roles.some(one => one.role === role)) ?? 'none'
}

const repositories = (call: OrganizationCall): RestAnswer => {
  const { world } = call.context
  const team = teamOf(call)
  const ids = withAncestors(world.teams, team).flatMap(one => one.repositories.map(given => given.repositoryId))
  const found = [...new Set(ids)].flatMap(id => repositoryById(world, id) ?? [])
  return paged(call.paging, found, one => {
    const role = roleOfTeam(world.teams, team, one.id)
    return { ...minimalRepository(call.context, one), permissions: roleFlags(role), role_name: role }
  })
}

const personOf = ({ context, params }: OrganizationCall): User => {
  const user = userByLogin(context.world, params['username'] ?? '')
  if (!user) throw notFound()
  return user
}

const join = (call: OrganizationCall): RestAnswer => {
  const role = fieldsOf(call.body, 'TeamMembership').optionalOneOf('role', ['member', 'maintainer'] as const) ?? 'member'
  joinTeam(call.context, call.organization, teamOf(call), personOf(call), role, writerOf(call))
  return membership(call)
}

const leave = (call: OrganizationCall): RestAnswer => {
  leaveTeam(call.context, call.organization, teamOf(call), personOf(call), writerOf(call))
  return noContent
}

const readMembers = { permission: 'members', level: 'read' } as const
const writeMembers = { permission: 'members', level: 'write' } as const

const parts: readonly {
  readonly path: string
  readonly method?: Method
  readonly handle: (call: OrganizationCall) => RestAnswer
}[] = [
  { path: '', handle: call => ok(fullTeam(call.context, teamOf(call))) },
  { path: '/members', handle: members },
  { path: '/memberships/{username}', handle: membership },
  { path: '/memberships/{username}', method: 'PUT', handle: join },
  { path: '/memberships/{username}', method: 'DELETE', handle: leave },
  { path: '/repos', handle: repositories },
  {
    path: '/teams',
    handle: call => {
      const parent = teamOf(call)
      return paged(
        call.paging,
        call.context.world.teams.filter(one => one.parentId === parent.id),
        one => teamWithParent(call.context, one),
      )
    },
  },
]

export const teamRoutes: readonly RestRoute[] = [
  organizationRoute(readMembers, { method: 'GET', path: '/orgs/{org}/teams', handle: list }),
  organizationRoute(readMembers, {
    method: 'GET',
    path: '/organizations/{org_id}/teams',
    describedAs: '/orgs/{org}/teams',
    handle: list,
  }),
  ...parts.flatMap(({ path, method = 'GET', handle }) => {
    const needed = method === 'GET' ? readMembers : writeMembers
    const bySlug = `/orgs/{org}/teams/{team_slug}${path}`
    return [
      organizationRoute(needed, { method, path: bySlug, handle }),
      organizationRoute(needed, { method, path: `/organizations/{org_id}/team/{team_id}${path}`, describedAs: bySlug, handle }),
    ]
  }),
]
