// What a Tenant says about its roles, from what GitHub said about its teams. Pure. An unknown team does not take Ready away: everybody
// else works; the condition and its Event say which number is wrong and what to do.
import { type Tenant, tenantConditions, tenantReasons } from '../../../api/tenancy/tenant.ts'
import { findCondition, type WantedCondition } from '../../../kube/object/conditions.ts'
import type { TeamsAnswer } from './check-teams.ts'

const type = tenantConditions.rolesResolved
const unreachableMilliseconds = 60_000
const longestWaitMilliseconds = 3_600_000

export function rolesResolvedCondition(tenant: Tenant, finding: TeamsAnswer): WantedCondition {
  const before = findCondition(tenant.status?.conditions, type)
  switch (finding.kind) {
    case 'no-organization-teams': {
      const { login } = tenant.spec.account
      if (finding.teams.length === 0)
        return { type, status: 'True', reason: tenantReasons.rolesResolved, message: 'no role is for a team' }
      const message = `spec.roles: ${login} is a person's account and has no teams (${listed(finding.teams)}): use type User, Owners or Members`
      return { type, status: 'False', reason: tenantReasons.unknownTeam, message }
    }
    case 'known':
      return known(tenant, finding)
    case 'not-checkable':
      return unknown(finding.message)
    case 'unreachable':
      // What was found about these very roles still counts; about changed ones nothing is known.
      return before && before.observedGeneration === tenant.metadata.generation ? before : unknown(finding.message)
    case 'not-due':
      return before ?? unknown('GitHub was not asked yet')
    default: {
      const never: never = finding
      return never
    }
  }
}

function unknown(message: string): WantedCondition {
  return { type, status: 'Unknown', reason: tenantReasons.teamsNotChecked, message }
}

function known(tenant: Tenant, { teams, missing }: Extract<TeamsAnswer, { kind: 'known' }>): WantedCondition {
  const { login } = tenant.spec.account
  if (missing.length === 0) {
    const message = `${teams.length === 1 ? 'the team is' : `all ${teams.length} teams are`} of ${login}`
    return { type, status: 'True', reason: tenantReasons.rolesResolved, message }
  }
  const message =
    `spec.roles: ${login} has no team with the id ${listed(missing)}, so nobody has that role by it: ` +
    'set subject.id to the number that `gh api orgs/<organisation>/teams` shows, or remove the role'
  return { type, status: 'False', reason: tenantReasons.unknownTeam, message }
}

const mostListed = 10

function listed(ids: readonly number[]): string {
  const shown = ids.slice(0, mostListed).join(', ')
  return ids.length > mostListed ? `${shown} and ${ids.length - mostListed} more` : shown
}

/** When to look again though nothing wakes us. */
export function nextTeamCheckMilliseconds(finding: TeamsAnswer, interval: number): number | undefined {
  switch (finding.kind) {
    case 'unreachable':
      return Math.min(Math.max(unreachableMilliseconds, (finding.retryAfterSeconds ?? 0) * 1000), longestWaitMilliseconds)
    case 'known':
    case 'not-due':
      return interval
    default:
      // A change of the Tenant or of its Installation wakes us.
      return undefined
  }
}
