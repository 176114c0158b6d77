// The routes that create, change and delete teams and set their roles on repositories.
// https://docs.github.com/en/rest/teams/teams
import { changeTeam, createTeam, deleteTeam, giveTeamRepository, takeTeamRepository } from '../../actions/people/teams.ts'
import { atLeast, canSee, permissionOn } from '../../state/access.ts'
import type { Team } from '../../state/accounts.ts'
import { repositoryByName, userByLogin } from '../../state/github-state.ts'
import type { Repository } from '../../state/repositories.ts'
import { roleOfWord } from '../../views/role.ts'
import { fullTeam } from '../../views/team.ts'
import { created, invalidField, noContent, notAccessible, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { actionOf, type OrganizationCall, organizationRoute, type RestRoute } from '../route.ts'
import { teamOf } from './teams.ts'

function named<Found>(names: readonly string[], find: (name: string) => Found | undefined, field: string): Found[] {
  return names.map(name => {
    const found = find(name)
    if (found === undefined) throw invalidField('Team', field, 'invalid')
    return found
  })
}

function privacyOf(word: 'secret' | 'closed' | undefined, nested: boolean): Team['privacy'] {
  return word ?? (nested ? 'closed' : 'secret')
}

function create(call: OrganizationCall): RestAnswer {
  const { state } = call.context
  const fields = fieldsOf(call.body, 'Team')
  const parentId = fields.optionalNumber('parent_team_id') ?? null
  const maintainers = named(fields.optionalTexts('maintainers', 100) ?? [], name => userByLogin(state, name), 'maintainers')
  const find = (fullName: string): Repository | undefined => {
    const [owner = '', name = ''] = fullName.split('/')
    const repository = repositoryByName(state, owner, name)
    return repository?.ownerId === call.organization.id ? repository : undefined
  }
  const team = createTeam(actionOf(call), {
    name: fields.text('name', 100),
    description: fields.optionalText('description', 1000) ?? null,
    privacy: privacyOf(fields.optionalOneOf('privacy', ['secret', 'closed'] as const), parentId !== null),
    parentId,
    maintainerIds: maintainers.map(one => one.id),
    repositoryIds: named(fields.optionalTexts('repo_names', 100) ?? [], find, 'repo_names').map(one => one.id),
  })
  const view = fullTeam(call.context, team)
  return created(view, { location: view.url })
}

function update(call: OrganizationCall): RestAnswer {
  const fields = fieldsOf(call.body, 'Team')
  const team = teamOf(call)
  changeTeam(actionOf(call), team, {
    name: fields.optionalText('name', 100),
    description: fields.optionalText('description', 1000),
    privacy: fields.optionalOneOf('privacy', ['secret', 'closed'] as const),
    // `null` is a value here: the team leaves its parent.
    parentId: fields.raw('parent_team_id') === null ? null : fields.optionalNumber('parent_team_id'),
  })
  return ok(fullTeam(call.context, team))
}

function remove(call: OrganizationCall): RestAnswer {
  deleteTeam(actionOf(call), teamOf(call))
  return noContent
}

function repositoryOf({ context, actor, params }: OrganizationCall): Repository {
  const found = repositoryByName(context.state, params['owner'] ?? '', params['repo'] ?? '')
  if (!found || !canSee(context.state, actor, found)) throw notFound()
  return found
}

function requireAdministration(call: OrganizationCall, repository: Repository): void {
  if (!atLeast(permissionOn(call.context.state, call.actor, repository, 'administration'), 'write')) throw notAccessible()
}

function giveRepository(call: OrganizationCall): RestAnswer {
  const repository = repositoryOf(call)
  requireAdministration(call, repository)
  const role = roleOfWord[fieldsOf(call.body, 'Team').optionalText('permission', 20) ?? 'push']
  if (role === undefined) throw invalidField('Team', 'permission', 'invalid')
  giveTeamRepository(actionOf(call), teamOf(call), repository, role)
  return noContent
}

function takeRepository(call: OrganizationCall): RestAnswer {
  const repository = repositoryOf(call)
  requireAdministration(call, repository)
  takeTeamRepository(actionOf(call), teamOf(call), repository)
  return noContent
}

const writing = { permission: 'members', level: 'write' } as const
const team = '/orgs/{org}/teams/{team_slug}'

export const teamChangeRoutes: readonly RestRoute[] = [
  organizationRoute(writing, { method: 'POST', path: '/orgs/{org}/teams', handle: create }),
  organizationRoute(writing, { method: 'PATCH', path: team, handle: update }),
  organizationRoute(writing, { method: 'DELETE', path: team, handle: remove }),
  organizationRoute(writing, { method: 'PUT', path: `${team}/repos/{owner}/{repo}`, handle: giveRepository }),
  organizationRoute(writing, { method: 'DELETE', path: `${team}/repos/{owner}/{repo}`, handle: takeRepository }),
]
