// Decides which groups a person has, as the API server sees them. Pure: numeric ids in, group names out; names of organisations
// and teams never matter. Only organisations that are tenants count, so that a token does not reveal a person's other
// memberships.
import { groups } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'

/** A team and its parent team, if it has one. */
export type TeamLink = { readonly id: number; readonly organizationId: number; readonly parentId: number | undefined }

export type MembershipFacts = {
  readonly host: string
  /** Active memberships in organisations that are tenants. */
  readonly memberships: readonly { readonly organizationId: number; readonly owner: boolean }[]
  /** The teams the person is in. */
  readonly teams: readonly TeamLink[]
  /** Other teams of those organisations, to resolve parents of parents. */
  readonly knownTeams: readonly TeamLink[]
}

export type RoleSubject = Tenant['spec']['roles'][number]['subject']

/** More groups make tokens too large for HTTP headers; above this, only groups that a role names are kept. */
export const maxGroups = 200

function withParents(facts: MembershipFacts): ReadonlyMap<number, TeamLink> {
  const known = new Map([...facts.knownTeams, ...facts.teams].map(team => [team.id, team]))
  const found = new Map<number, TeamLink>()
  for (const team of facts.teams) {
    let current: TeamLink | undefined = team
    while (current !== undefined && !found.has(current.id)) {
      found.set(current.id, current)
      const parentId: number | undefined = current.parentId
      // A parent that could not be read is in the same organisation: GitHub nests teams inside one organisation only.
      current =
        parentId === undefined
          ? undefined
          : (known.get(parentId) ?? { id: parentId, organizationId: current.organizationId, parentId: undefined })
    }
  }
  return found
}

/** Sorted, without duplicates, at most `maxGroups`. `bound` are the groups that roles name. */
export function groupsOf(facts: MembershipFacts, bound: ReadonlySet<string>): readonly string[] {
  const { host } = facts
  const organizations = new Set(facts.memberships.map(membership => membership.organizationId))
  const names = new Set<string>()
  for (const { organizationId, owner } of facts.memberships) {
    names.add(groups.members(host, organizationId))
    if (owner) names.add(groups.owners(host, organizationId))
  }
  for (const team of withParents(facts).values())
    if (organizations.has(team.organizationId)) names.add(groups.team(host, team.organizationId, team.id))
  const sorted = [...names].sort()
  if (sorted.length <= maxGroups) return sorted
  return sorted.filter(name => bound.has(name)).slice(0, maxGroups)
}

/** The group that a role names; undefined for a single user. */
export function groupOf({ host, id }: Tenant['spec']['account'], subject: RoleSubject): string | undefined {
  if (subject.type === 'Owners') return groups.owners(host, id)
  if (subject.type === 'Members') return groups.members(host, id)
  return subject.type === 'Team' && subject.id !== undefined ? groups.team(host, id, subject.id) : undefined
}

/** Every group that a role of a tenant names. */
export function boundGroups(tenants: readonly Tenant[]): ReadonlySet<string> {
  return new Set(tenants.flatMap(({ spec }) => spec.roles.flatMap(({ subject }) => groupOf(spec.account, subject) ?? [])))
}
