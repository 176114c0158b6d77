// The people and teams of an organisation, read either as the person or as the App (which needs members: read).
// Only `active` and `admin` together mean an owner; a pending invitation means nothing.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user ,
// https://docs.github.com/en/rest/teams/teams#get-a-team-by-name (teams by organisation id and team id) ,
// https://docs.github.com/en/rest/teams/members#get-team-membership-for-a-user
import { isAppError } from '../../lib/errors.ts'
import { integerAt, objectAt, recordOf, textAt } from '../transport/answer.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/** One person's membership, with the ids of both to compare: logins change. */
export type OrganizationMembership = {
  readonly state: 'active' | 'pending'
  readonly role: 'admin' | 'member'
  readonly organizationId: number
  readonly userId: number
}

/** Reads GitHub's answer about one membership; throws `upstream_failed` when a field is missing. */
export function organizationMembership(value: unknown): OrganizationMembership {
  const answer = recordOf(value, 'membership')
  return {
    state: textAt(answer, 'state', 'membership') === 'active' ? 'active' : 'pending',
    role: textAt(answer, 'role', 'membership') === 'admin' ? 'admin' : 'member',
    organizationId: integerAt(objectAt(answer, 'organization', 'membership'), 'id', 'membership.organization'),
    userId: integerAt(objectAt(answer, 'user', 'membership'), 'id', 'membership.user'),
  }
}

/** All methods throw AppError: see failure.ts for codes and reasons. */
export type OrganizationClient = {
  /** undefined when the person is not a member, or does not exist. */
  readonly membership: (organizationLogin: string, userLogin: string) => Promise<OrganizationMembership | undefined>
  /** Whether the organisation has the team, nested and secret ones too. By ids: another organisation can take over the login. */
  readonly hasTeam: (organizationId: number, teamId: number) => Promise<boolean>
  /** Whether the person is an active member of the team or of one below it; false when there is no such team or person. */
  readonly isTeamMember: (organizationId: number, teamId: number, userLogin: string) => Promise<boolean>
}

/** Needs a token with members: read (`AppClient.mintOrganizationReader`). */
export function createOrganizationClient(deps: TokenClientDeps): OrganizationClient {
  const requester = createTokenRequester(deps, { fresh: true })
  return {
    async membership(organizationLogin, userLogin) {
      const parameters = { org: organizationLogin, username: userLogin }
      try {
        return organizationMembership((await requester.request('GET /orgs/{org}/memberships/{username}', parameters)).data)
      } catch (error) {
        if (isAppError(error, 'not_found')) return undefined
        throw error
      }
    },
    async hasTeam(organizationId, teamId) {
      const parameters = { organization_id: organizationId, team_id: teamId }
      try {
        const { data } = await requester.request('GET /organizations/{organization_id}/team/{team_id}', parameters)
        const team = recordOf(data, 'team')
        const owner = integerAt(objectAt(team, 'organization', 'team'), 'id', 'team.organization')
        return integerAt(team, 'id', 'team') === teamId && owner === organizationId
      } catch (error) {
        if (isAppError(error, 'not_found')) return false
        throw error
      }
    },
    async isTeamMember(organizationId, teamId, userLogin) {
      const parameters = { organization_id: organizationId, team_id: teamId, username: userLogin }
      const route = 'GET /organizations/{organization_id}/team/{team_id}/memberships/{username}'
      try {
        const { data } = await requester.request(route, parameters)
        return textAt(recordOf(data, 'team membership'), 'state', 'team membership') === 'active'
      } catch (error) {
        if (isAppError(error, 'not_found')) return false
        throw error
      }
    },
  }
}
