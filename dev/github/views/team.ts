// The JSON of teams.
import type { Organization, Team } from '../state/accounts.ts'
import { organizationById, type World } from '../state/world.ts'
import { fullOrganization } from './account.ts'
import { nodeId, type View } from './view.ts'

function organizationOf(world: World, team: Team): Organization {
  const organization = organizationById(world, team.organizationId)
  if (!organization) throw new Error(`team ${team.id} belongs to organization ${team.organizationId}, which does not exist`)
  return organization
}

/** OpenAPI `team-simple`. */
export function simpleTeam({ links, world }: View, team: Team) {
  const organization = organizationOf(world, team)
  const url = links.api(`/organizations/${organization.id}/team/${team.id}`)
  return {
    id: team.id,
    node_id: nodeId('Team', team.id),
    url,
    members_url: `${url}/members{/member}`,
    name: team.name,
    description: team.description,
    permission: 'pull',
    privacy: team.privacy,
    notification_setting: 'notifications_enabled',
    html_url: links.web(`/orgs/${organization.login}/teams/${team.slug}`),
    repositories_url: `${url}/repos`,
    slug: team.slug,
    type: 'organization' as const,
  }
}

/** OpenAPI `team`. */
export function teamWithParent(view: View, team: Team) {
  const parent = view.world.teams.find(one => one.id === team.parentId)
  return { ...simpleTeam(view, team), parent: parent ? simpleTeam(view, parent) : null }
}

/** OpenAPI `team-full`. */
export function fullTeam(view: View, team: Team) {
  return {
    ...teamWithParent(view, team),
    created_at: team.createdAt,
    updated_at: team.createdAt,
    members_count: team.members.length,
    repos_count: team.repositories.length,
    organization: fullOrganization(view, organizationOf(view.world, team)),
  }
}
