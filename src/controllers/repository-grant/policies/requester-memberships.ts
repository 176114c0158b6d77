// Asks GitHub, as the App, to which teams the requester of a grant belongs and which roles that gives in the tenant: only about
// the teams and roles that policies name. Rejects when something cannot be found out, so that nothing is decided without it.
import { type RequesterRole, requesterRoles } from '../../../api/github/grant-policy.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { createOrganizationClient, type Fetch, type OrganizationClient } from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type Needs, roleKey, teamKey } from '../../../policy/grants/policy-facts.ts'
import type { GitHubApp } from '../../../services/token-desk/app-clients.ts'
import { type SingleUseTokenDeps, withSingleUseToken } from '../../../services/token-desk/single-use-token.ts'

export type MembershipDeps = SingleUseTokenDeps & { readonly clock: Clock; readonly fetch?: Fetch }

/** The person, as GitHub answered just now, and where the roles are from. */
export type MembershipQuestion = {
  readonly needs: Pick<Needs, 'teams' | 'roles'>
  readonly person: { readonly id: number; readonly login: string }
  readonly grant: { readonly namespace: string; readonly name: string }
  readonly installation: Installation
  readonly tenant: Tenant | undefined
}

type RoleSubject = Tenant['spec']['roles'][number]['subject']

/** Each is a request to GitHub. */
const maxTeams = 50

/** By the keys of teams and roles: each that is needed is in the answer. */
export async function requesterMemberships(
  deps: MembershipDeps,
  app: GitHubApp,
  question: MembershipQuestion,
): Promise<ReadonlyMap<string, boolean>> {
  const { needs, installation, tenant } = question
  const subjects = new Map(needs.roles.map(role => [role, subjectsOf(tenant, role)]))
  const all = [...subjects.values()].flat()
  const teams = new Set([...needs.teams, ...all.flatMap(({ type, id }) => (type === 'Team' && id !== undefined ? [id] : []))])
  const isPerson = installation.spec.account.type === 'User'
  const asksOrganization = all.some(({ type }) => type === 'Owners' || type === 'Members')
  const asks = !isPerson && (teams.size > 0 || asksOrganization)
  const found = asks ? await ask(deps, app, { question, teams: [...teams], asksOrganization }) : nothing
  const has = (subject: RoleSubject): boolean => hasRole(subject, question, found)
  return new Map([
    ...needs.teams.map(id => [teamKey(id), found.teams.has(id)] as const),
    ...requesterRoles.flatMap(role => {
      const given = subjects.get(role)
      return given === undefined ? [] : [[roleKey(role), given.some(has)] as const]
    }),
  ])
}

function subjectsOf(tenant: Tenant | undefined, role: RequesterRole): readonly RoleSubject[] {
  return (tenant?.spec.roles ?? []).flatMap(one => (one.role === role ? [one.subject] : []))
}

type Answer = { readonly teams: ReadonlySet<number>; readonly role: 'admin' | 'member' | undefined }
const nothing: Answer = { teams: new Set(), role: undefined }

/** As the RoleBindings of the tenant say it (src/controllers/tenant/rights/role-bindings.ts). */
function hasRole({ type, id }: RoleSubject, { person, installation }: MembershipQuestion, { teams, role }: Answer): boolean {
  const { account } = installation.spec
  switch (type) {
    case 'User':
      return id === person.id
    case 'Team':
      return id !== undefined && teams.has(id)
    case 'Owners':
      return account.type === 'User' ? account.id === person.id : role === 'admin'
    case 'Members':
      return account.type === 'User' ? account.id === person.id : role !== undefined
  }
}

type Asked = { readonly question: MembershipQuestion; readonly teams: readonly number[]; readonly asksOrganization: boolean }

async function ask(deps: MembershipDeps, app: GitHubApp, { question, teams, asksOrganization }: Asked): Promise<Answer> {
  const { installation, person, grant } = question
  const { installationId, account } = installation.spec
  if (installation.status?.permissions?.['members'] === undefined)
    throw new AppError(
      'upstream_failed',
      'a policy names teams or roles of the requester, and the GitHub App may not read them: give it the permission members: read',
    )
  if (teams.length > maxTeams)
    throw new AppError('invalid_request', `policies and roles name more than ${maxTeams} teams that may decide about the grant`)
  const { log, clock, fetch } = deps
  const answer = await withSingleUseToken(deps, app, {
    request: {
      actor: 'sekisho:repository-grant-controller',
      namespace: grant.namespace,
      object: `RepositoryGrant/${grant.namespace}/${grant.name}`,
      reason: 'to which teams, of those that policies name, does the requester belong',
      installationId,
      permissions: { members: 'read' },
    },
    mint: () => app.client.mintOrganizationReader(installationId),
    async use({ token }): Promise<Answer> {
      const client = createOrganizationClient({ endpoints: app.endpoints, token, log, clock, ...defined({ fetch }) })
      const role = asksOrganization ? await roleIn(client, account, person) : undefined
      const members = new Set<number>()
      for (const id of teams) if (await client.isTeamMember(account.id, id, person.login)) members.add(id)
      return { teams: members, role }
    },
  })
  return answer ?? nothing
}

/** @throws AppError `integrity_violation` when the logins mean others by now: then nothing is known */
async function roleIn(
  client: OrganizationClient,
  account: Installation['spec']['account'],
  person: MembershipQuestion['person'],
): Promise<Answer['role']> {
  const membership = await client.membership(account.login, person.login)
  if (membership === undefined) {
    if (await client.isLoginOf(account.id, account.login)) return undefined
    throw new AppError('integrity_violation', `the organization ${account.login} is not the one of the Installation any more`)
  }
  if (membership.organizationId !== account.id || membership.userId !== person.id)
    throw new AppError('integrity_violation', 'GitHub answered about the membership of another person or organization')
  return membership.state === 'active' ? membership.role : undefined
}
