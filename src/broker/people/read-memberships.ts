// Reads from GitHub, as the person, the facts of which groups are made: memberships in tenant organisations, teams, and parents
// of teams. It never requests anything about organisations that are not tenants.
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { UserClient } from '../../github/index.ts'
import type { MembershipFacts, TeamLink } from './groups.ts'
import { visibleMembership } from './visible-membership.ts'

/** The memberships that count in those of the organisations that the person is in, with their present logins. */
export async function activeMemberships(
  client: UserClient,
  organizationIds: ReadonlySet<number>,
): Promise<readonly { readonly organizationId: number; readonly login: string; readonly owner: boolean }[]> {
  const organizations = (await client.organizations()).filter(({ id }) => organizationIds.has(id))
  const found = await Promise.all(
    organizations.map(async ({ id, login }) => {
      const membership = await visibleMembership(client, login)
      // The login may have passed to another organisation between two requests: the ids decide.
      if (membership?.state !== 'active' || membership.organizationId !== id) return undefined
      return { organizationId: id, login, owner: membership.role === 'admin' }
    }),
  )
  return found.filter(membership => membership !== undefined)
}

/** Of all `tenants`, only those on `host` count. Rejects when GitHub does not answer. */
export async function readMemberships(client: UserClient, host: string, tenants: readonly Tenant[]): Promise<MembershipFacts> {
  const accounts = tenants
    .map(({ spec }) => spec.account)
    .filter(account => account.host === host && account.type === 'Organization')
  if (accounts.length === 0) return { host, memberships: [], teams: [], knownTeams: [] }
  const [memberships, allTeams] = await Promise.all([
    activeMemberships(client, new Set(accounts.map(({ id }) => id))),
    client.teams(),
  ])
  const organizations = new Map(memberships.map(({ organizationId, login }) => [organizationId, login]))
  const teams: readonly TeamLink[] = allTeams.filter(team => organizations.has(team.organizationId))
  const direct = new Set(teams.map(({ id }) => id))
  const nested = new Set(
    teams.filter(({ parentId }) => parentId !== undefined && !direct.has(parentId)).map(({ organizationId }) => organizationId),
  )
  const known = await Promise.all(
    [...nested].map(async id => {
      const login = organizations.get(id)
      return login === undefined ? [] : client.organizationTeams({ id, login })
    }),
  )
  return { host, memberships, teams, knownTeams: known.flat() }
}
