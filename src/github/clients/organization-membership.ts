// What GitHub says of an organisation's people, read either as the person or as the App (which needs members: read).
// Only `active` + `admin` is an owner; a pending invitation is nothing.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user
import { isAppError } from '../../lib/errors.ts'
import { integerAt, objectAt, recordOf, textAt } from '../transport/answer.ts'
import { createClient } from '../transport/github-requests.ts'
import { createTokenRequester } from '../transport/token-requester.ts'
import type { RepositoryClientDeps } from './repository-client.ts'

export type OrganizationMembership = {
  readonly state: 'active' | 'pending'
  readonly role: 'admin' | 'member'
  readonly organizationId: number
  readonly userId: number
}

export function organizationMembership(value: unknown): OrganizationMembership {
  const answer = recordOf(value, 'membership')
  return {
    state: textAt(answer, 'state', 'membership') === 'active' ? 'active' : 'pending',
    role: textAt(answer, 'role', 'membership') === 'admin' ? 'admin' : 'member',
    organizationId: integerAt(objectAt(answer, 'organization', 'membership'), 'id', 'membership.organization'),
    userId: integerAt(objectAt(answer, 'user', 'membership'), 'id', 'membership.user'),
  }
}

export type OrganizationClient = {
  /** undefined when the person is no member, or there is no such person. */
  readonly membership: (organizationLogin: string, userLogin: string) => Promise<OrganizationMembership | undefined>
  /** The numbers of all its teams, nested and secret ones too. Throws `not_found` when the login belongs to nobody. */
  readonly teamIds: (organization: { readonly login: string }) => Promise<ReadonlySet<number>>
}

/** Needs a token with members: read (`AppClient.mintOrganizationReader`). */
export function createOrganizationClient(deps: RepositoryClientDeps): OrganizationClient {
  const requester = createTokenRequester(deps, createClient, { fresh: true })
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
    async teamIds({ login }) {
      const teams = await requester.all('GET /orgs/{org}/teams', { org: login })
      return new Set(teams.map(team => integerAt(recordOf(team, 'team'), 'id', 'team')))
    },
  }
}
