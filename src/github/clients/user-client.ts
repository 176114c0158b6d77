// The client of GitHub with a person's token (broker only): the person, and the installations, organisations and teams that
// they can see. `installations()` proves nothing: GitHub lists what an ordinary member can see. The proof of ownership is
// `organizationMembership`.
// Source: https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
import { AppError, isAppError } from '../../lib/errors.ts'
import { accountInstallation, type InstallationFacts } from '../installation-facts.ts'
import { type Answer, integerAt, objectAt, recordOf, textAt } from '../transport/answer.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'
import { type OrganizationMembership, organizationMembership } from './organization-membership.ts'

/** A team; the id is the identity, slug and name are for display. */
export type TeamFacts = {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly organizationId: number
  /** Members of a team are members of its parents, too. */
  readonly parentId: number | undefined
}

/** All methods throw AppError: see failure.ts for codes and reasons. */
export type UserClient = {
  readonly user: () => Promise<{ readonly id: number; readonly login: string }>
  /** Without those on enterprises, which have no repositories. */
  readonly installations: () => Promise<readonly InstallationFacts[]>
  /** The repositories of an installation that the person can see. */
  readonly installationRepositories: (
    installationId: number,
  ) => Promise<readonly { readonly id: number; readonly fullName: string }[]>
  /** undefined when the person is not a member (GitHub hides whether the organisation exists). */
  readonly organizationMembership: (organizationLogin: string) => Promise<OrganizationMembership | undefined>
  readonly organizations: () => Promise<readonly { readonly id: number; readonly login: string }[]>
  readonly teams: () => Promise<readonly TeamFacts[]>
  /** Every team of an organisation that the person can see. `organization.id` is given because GitHub does not repeat it here. */
  readonly organizationTeams: (organization: { readonly id: number; readonly login: string }) => Promise<readonly TeamFacts[]>
}

/** A client for one person's token. */
export function createUserClient(deps: TokenClientDeps): UserClient {
  const requester = createTokenRequester(deps, { fresh: false })
  return {
    async user() {
      const { data } = await requester.request('GET /user', {})
      return account(recordOf(data, 'user'))
    },
    async installations() {
      return (await requester.all('GET /user/installations', {})).flatMap(item => accountInstallation(item) ?? [])
    },
    async installationRepositories(installationId) {
      const route = 'GET /user/installations/{installation_id}/repositories'
      return (await requester.all(route, { installation_id: installationId })).map(item => {
        const repository = recordOf(item, 'repository')
        return { id: integerAt(repository, 'id', 'repository'), fullName: textAt(repository, 'full_name', 'repository') }
      })
    },
    async organizationMembership(organizationLogin) {
      checkLogin(organizationLogin)
      try {
        const { data } = await requester.request('GET /user/memberships/orgs/{org}', { org: organizationLogin })
        return organizationMembership(data)
      } catch (error) {
        if (isAppError(error, 'not_found')) return undefined
        throw error
      }
    },
    async organizations() {
      return (await requester.all('GET /user/orgs', {})).map(item => account(recordOf(item, 'organization')))
    },
    async teams() {
      return (await requester.all('GET /user/teams', {})).map(item => team(recordOf(item, 'team')))
    },
    async organizationTeams({ id, login }) {
      checkLogin(login)
      return (await requester.all('GET /orgs/{org}/teams', { org: login })).map(item => teamOf(recordOf(item, 'team'), id))
    },
  }
}

function account(answer: Answer): { readonly id: number; readonly login: string } {
  return { id: integerAt(answer, 'id', 'account'), login: textAt(answer, 'login', 'account') }
}

function checkLogin(login: string): void {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(login)) throw new AppError('invalid_request', 'that is not the login of an organisation')
}

function team(answer: Answer): TeamFacts {
  return teamOf(answer, integerAt(objectAt(answer, 'organization', 'team'), 'id', 'team.organization'))
}

function teamOf(answer: Answer, organizationId: number): TeamFacts {
  const parent = answer['parent']
  return {
    id: integerAt(answer, 'id', 'team'),
    slug: textAt(answer, 'slug', 'team'),
    name: textAt(answer, 'name', 'team'),
    organizationId,
    parentId:
      parent === null || parent === undefined ? undefined : integerAt(recordOf(parent, 'team.parent'), 'id', 'team.parent'),
  }
}
