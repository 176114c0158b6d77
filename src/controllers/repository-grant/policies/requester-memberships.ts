// Asks GitHub, as the App, to which teams the requester of a grant belongs and which roles that gives in the tenant: only about
// the teams and roles that policies name. Rejects when something cannot be found out, so that nothing is decided without it.
import { type RequesterRole, requesterRoles } from '../../../api/github/grant-policy.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Needs, roleKey, teamKey } from '../../../policy/grants/policy-facts.ts'
import type { GitHubApp } from '../../../services/token-desk/app-clients.ts'
import {
  type OrganizationReader,
  type OrganizationReaderDeps,
  type OrganizationRole,
  readOrganization,
  roleIn,
} from './organization-reader.ts'

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
  deps: OrganizationReaderDeps,
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

type Answer = { readonly teams: ReadonlySet<number>; readonly role: OrganizationRole }
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

async function ask(deps: OrganizationReaderDeps, app: GitHubApp, { question, teams, asksOrganization }: Asked): Promise<Answer> {
  const { installation, person, grant } = question
  const { installationId, account } = installation.spec
  if (installation.status?.permissions?.['members'] === undefined)
    throw new AppError(
      'upstream_failed',
      'a policy names teams or roles of the requester, and the GitHub App may not read them: give it the permission members: read',
    )
  if (teams.length > maxTeams)
    throw new AppError('invalid_request', `policies and roles name more than ${maxTeams} teams that may decide about the grant`)
  const reason = 'to which teams, of those that policies name, does the requester belong'
  const answer = await readOrganization(deps, app, { grant, installationId, reason }, async (reader): Promise<Answer> => {
    const role = asksOrganization ? await roleIn(reader, account, person.id) : undefined
    return { teams: await teamsOf(reader, account.id, person, teams), role }
  })
  return answer ?? nothing
}

/** GitHub answers by the login of the person, and does not say of whom: the answers count while it is the person's. */
export async function teamsOf(
  { organization, people }: OrganizationReader,
  organizationId: number,
  { id, login }: MembershipQuestion['person'],
  teams: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const team of teams) if (await organization.isTeamMember(organizationId, team, login)) found.add(team)
  if (teams.length > 0 && (await people.userById(id))?.login !== login)
    throw new AppError('unavailable', `the login of person ${id} changes while their teams are asked for`)
  return found
}
