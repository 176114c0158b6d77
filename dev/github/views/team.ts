// The JSON of teams.
import type { Organization, Team } from '../state/accounts.ts'
import { type GitHubState, organizationById } from '../state/github-state.ts'
import { fullOrganization } from './account.ts'
import { nodeId, type View } from './view.ts'

function organizationOf(state: GitHubState, team: Team): Organization {
  const organization = organizationById(state, team.organizationId)
  if (!organization) throw new Error(`team ${team.id} belongs to organization ${team.organizationId}, which does not exist`)
  return organization
}

/** OpenAPI `team-simple`. */
export function simpleTeam({ links, state }: View, team: Team) {
  const organization = organizationOf(state, team)
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
  const parent = view.state.teams.find(one => one.id === team.parentId)
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
    organization: fullOrganization(view, organizationOf(view.state, team)),
  }
}
