// The condition RolesResolved of a Tenant, from GitHub's answer about its teams. Pure. An unknown team does not make the Tenant
// unready, because everybody else can work; the condition and its Event name the wrong id and the cure.
import { type Tenant, tenantConditions, tenantReasons } from '../../../api/tenancy/tenant.ts'
import { findCondition, type WantedCondition } from '../../../kube/object/conditions.ts'
import { retryMilliseconds } from '../../kit/github-unreachable.ts'
import type { TeamsAnswer } from './check-teams.ts'

const type = tenantConditions.rolesResolved
/** As every Tenant is looked at again: the check is for information only. */
const unreachableMilliseconds = 600_000

/** Repeats the condition of the status while GitHub was not asked. */
export function rolesResolvedCondition(tenant: Tenant, answer: TeamsAnswer): WantedCondition {
  const before = findCondition(tenant.status?.conditions, type)
  switch (answer.kind) {
    case 'no-organization-teams': {
      const { login } = tenant.spec.account
      if (answer.teams.length === 0)
        return { type, status: 'True', reason: tenantReasons.rolesResolved, message: 'no role is for a team' }
      const message = `spec.roles: ${login} is a person's account and has no teams (${listed(answer.teams.map(id => nameOfTeam(tenant, id)))}): use type User, Owners or Members`
      return { type, status: 'False', reason: tenantReasons.unknownTeam, message }
    }
    case 'known':
      return known(tenant, answer)
    case 'not-checkable':
      return unknown(answer.message)
    case 'unreachable':
      // An earlier answer about these very roles still counts; nothing is known about changed ones.
      return before && before.observedGeneration === tenant.metadata.generation ? before : unknown(answer.message)
    case 'not-due':
      return before ?? unknown('GitHub was not asked yet')
  }
}

function unknown(message: string): WantedCondition {
  return { type, status: 'Unknown', reason: tenantReasons.teamsNotChecked, message }
}

function known(tenant: Tenant, { teams, missing }: Extract<TeamsAnswer, { kind: 'known' }>): WantedCondition {
  const { login } = tenant.spec.account
  if (missing.length === 0) {
    const message = `${teams.length === 1 ? 'the team belongs' : `all ${teams.length} teams belong`} to ${login}`
    return { type, status: 'True', reason: tenantReasons.rolesResolved, message }
  }
  const message =
    `spec.roles: ${login} has no team with the id ${listed(missing.map(id => nameOfTeam(tenant, id)))}, so nobody has that role through it: ` +
    'set subject.id to the number that `gh api orgs/<organisation>/teams` shows, or remove the role'
  return { type, status: 'False', reason: tenantReasons.unknownTeam, message }
}

/** The id first, which counts; the name is what was given with it. */
function nameOfTeam({ spec }: Tenant, id: number): string {
  const name = spec.roles.find(({ subject }) => subject.type === 'Team' && subject.id === id)?.subject.name
  return name === undefined ? String(id) : `${id} (${name})`
}

const maxListed = 10

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, maxListed).join(', ')
  return ids.length > maxListed ? `${shown} and ${ids.length - maxListed} more` : shown
}

/** When to check again although nothing wakes the Tenant; undefined where the resync of every Tenant is soon enough. */
export function nextTeamCheckMilliseconds(answer: TeamsAnswer): number | undefined {
  return answer.kind === 'unreachable' ? retryMilliseconds(answer, unreachableMilliseconds) : undefined
}
