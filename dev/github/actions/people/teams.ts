// Teams: created, changed, nested and removed, and their roles on repositories, with the `team` webhooks.
// Members of a team: ../memberships.ts. https://docs.github.com/en/rest/teams/teams
import { defined } from '../../../../src/lib/json/defined.ts'
import type { RepositoryRole, Team } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { simpleOrganization, simpleUser } from '../../views/account.ts'
import { repositoryView } from '../../views/repository.ts'
import { teamWithParent } from '../../views/team.ts'
import type { OrganizationAction } from '../context.ts'

function emitTeam(
  { context, organization, sender }: OrganizationAction,
  team: Team,
  action: string,
  more: { readonly changes?: unknown; readonly repository?: Repository } = {},
): void {
  context.webhooks.emit({
    name: 'team',
    action,
    accountId: organization.id,
    repositoryId: null,
    payload: {
      team: teamWithParent(context, team),
      ...defined({ changes: more.changes }),
      ...(more.repository ? { repository: repositoryView(context, more.repository) } : {}),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

function refuse(field: string, code: string): Refusal {
  return new Refusal(422, 'Validation Failed', [{ resource: 'Team', field, code }])
}

function requireFreeSlug({ context, organization }: OrganizationAction, slug: string, self: Team | undefined): void {
  if (slug === '') throw refuse('name', 'invalid')
  const holder = context.state.teams.find(one => one.organizationId === organization.id && one.slug === slug)
  if (holder && holder !== self) throw refuse('name', 'already_exists')
}

/** Refuses a parent of another organization, a secret team in a tree, and a team below itself. */
function requireParent(
  { context, organization }: OrganizationAction,
  team: Pick<Team, 'id' | 'privacy'>,
  parentId: number,
): void {
  let parent = context.state.teams.find(one => one.id === parentId && one.organizationId === organization.id)
  if (!parent || parent.privacy === 'secret' || team.privacy === 'secret') throw refuse('parent_team_id', 'invalid')
  while (parent) {
    if (parent.id === team.id) throw refuse('parent_team_id', 'invalid')
    const above: number | null = parent.parentId
    parent = context.state.teams.find(one => one.id === above)
  }
}

export type NewTeam = Pick<Team, 'name' | 'description' | 'privacy' | 'parentId'> & {
  readonly maintainerIds: readonly number[]
  readonly repositoryIds: readonly number[]
}

export function createTeam(action: OrganizationAction, wanted: NewTeam): Team {
  const slug = slugOf(wanted.name)
  requireFreeSlug(action, slug, undefined)
  if (wanted.parentId !== null) requireParent(action, { id: 0, privacy: wanted.privacy }, wanted.parentId)
  const team = action.context.store.change(state => {
    const made: Team = {
      id: nextId(state),
      organizationId: action.organization.id,
      slug,
      name: wanted.name,
      description: wanted.description,
      privacy: wanted.privacy,
      parentId: wanted.parentId,
      members: wanted.maintainerIds.map(userId => ({ userId, role: 'maintainer' })),
      repositories: wanted.repositoryIds.map(repositoryId => ({ repositoryId, role: 'read' })),
      createdAt: timestamp(action.context.now()),
    }
    state.teams.push(made)
    return made
  })
  emitTeam(action, team, 'created')
  return team
}

export type TeamChange = {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly privacy: Team['privacy'] | undefined
  /** `null`: no parent any more. */
  readonly parentId: number | null | undefined
}

export function changeTeam(action: OrganizationAction, team: Team, change: TeamChange): void {
  const name = change.name ?? team.name
  const slug = slugOf(name)
  requireFreeSlug(action, slug, team)
  const privacy = change.privacy ?? team.privacy
  const parentId = change.parentId === undefined ? team.parentId : change.parentId
  if (parentId !== null) requireParent(action, { id: team.id, privacy }, parentId)
  const changes = {
    ...(name === team.name ? {} : { name: { from: team.name } }),
    ...(change.description === undefined ? {} : { description: { from: team.description ?? '' } }),
    ...(privacy === team.privacy ? {} : { privacy: { from: team.privacy } }),
  }
  action.context.store.change(() => {
    Object.assign(team, { name, slug, privacy, parentId, description: change.description ?? team.description })
  })
  emitTeam(action, team, 'edited', { changes })
}

/** Removes a team with every team below it. */
export function deleteTeam(action: OrganizationAction, team: Team): void {
  for (const child of action.context.state.teams.filter(one => one.parentId === team.id)) deleteTeam(action, child)
  action.context.store.change(state => {
    state.teams = state.teams.filter(one => one !== team)
  })
  emitTeam(action, { ...team, parentId: null }, 'deleted')
}

/** Gives the team a role on a repository of the organization. */
export function giveTeamRepository(action: OrganizationAction, team: Team, repository: Repository, role: RepositoryRole): void {
  if (repository.ownerId !== action.organization.id) throw refuse('repository', 'invalid')
  const existing = team.repositories.find(one => one.repositoryId === repository.id)
  action.context.store.change(() => {
    if (existing) existing.role = role
    else team.repositories.push({ repositoryId: repository.id, role })
  })
  if (!existing) emitTeam(action, team, 'added_to_repository', { repository })
}

export function takeTeamRepository(action: OrganizationAction, team: Team, repository: Repository): void {
  if (!team.repositories.some(one => one.repositoryId === repository.id)) return
  action.context.store.change(() => {
    team.repositories = team.repositories.filter(one => one.repositoryId !== repository.id)
  })
  emitTeam(action, team, 'removed_from_repository', { repository })
}
