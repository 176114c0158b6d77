// The condition about a Tenant's roles, one row for each answer; nothing is claimed about what was not asked.
import { describe, expect, test } from 'vitest'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { mergeConditions } from '../../../kube/object/conditions.ts'
import { defined } from '../../../lib/json/defined.ts'
import { nextStatus } from '../status.ts'
import type { TeamsAnswer } from './check-teams.ts'
import { nextTeamCheckMilliseconds, rolesResolvedCondition } from './decide-teams.ts'

const enforcement = { ingress: 'Unknown', egress: 'Unknown' } as const
const filled = { decision: { kind: 'fill' }, enforcement, walls: undefined, installations: [] } as const

const askedAt = new Date('2026-01-01T00:00:00Z')

function tenant(status?: Tenant['status'], type: 'Organization' | 'User' = 'Organization'): Tenant {
  return {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme', uid: 'u', generation: 2, annotations: { 'sekisho.dev/wake': 'w2' } },
    spec: { account: { host: 'github.com', id: 2001, login: 'acme', type }, namespace: 'acme', roles: [] },
    ...defined({ status }),
  }
}

function found(reason: string, status: 'True' | 'False' | 'Unknown', generation = 2): Tenant['status'] {
  return {
    observedGeneration: generation,
    conditions: mergeConditions([], [{ type: 'RolesResolved', status, reason, message: 'before' }], generation, askedAt),
  }
}

const many = Array.from({ length: 12 }, (_, index) => index + 1)
const rows: readonly [string, TeamsAnswer, string, string, RegExp][] = [
  ['no team named', { kind: 'no-organization-teams', teams: [] }, 'True', 'TeamsFound', /no role is for a team/],
  ['one team, found', { kind: 'known', teams: [1], missing: [], askedAt }, 'True', 'TeamsFound', /the team belongs to acme/],
  [
    'an unknown team',
    { kind: 'known', teams: [1, 9], missing: [9], askedAt },
    'False',
    'UnknownTeam',
    /no team with the id 9,.*set subject\.id/,
  ],
  ['many unknown teams', { kind: 'known', teams: many, missing: many, askedAt }, 'False', 'UnknownTeam', /1, 2, .*10 and 2 more/],
  ['nothing to ask with', { kind: 'not-checkable', message: 'no Installation' }, 'Unknown', 'TeamsNotChecked', /no Installation/],
  [
    'GitHub unreachable at first',
    { kind: 'unreachable', message: 'away', retryAfterSeconds: undefined },
    'Unknown',
    'TeamsNotChecked',
    /away/,
  ],
]

test.each(rows)('%s', (...[, answer, status, reason, message]) => {
  const condition = rolesResolvedCondition(tenant(), answer)
  expect(condition).toMatchObject({ type: 'RolesResolved', status, reason })
  expect(condition.message).toMatch(message)
})

test('an unknown team is shown with the name that was given with its id', () => {
  const subject = { type: 'Team', id: 9, name: 'backend' } as const
  const { spec, ...rest } = tenant()
  const named: Tenant = { ...rest, spec: { ...spec, roles: [{ role: 'developer', subject }] } }
  const answer: TeamsAnswer = { kind: 'known', teams: [1, 9], missing: [9], askedAt }
  expect(rolesResolvedCondition(named, answer).message).toContain('acme has no team with the id 9 (backend), so')
})

test("a person's account has no teams; the message names the cure", () => {
  const condition = rolesResolvedCondition(tenant(undefined, 'User'), { kind: 'no-organization-teams', teams: [7] })
  expect(condition).toMatchObject({ status: 'False', reason: 'UnknownTeam' })
  expect(condition.message).toMatch(/spec\.roles.*\(7\): use type User/)
})

describe('while GitHub cannot be reached', () => {
  const away: TeamsAnswer = { kind: 'unreachable', message: 'away', retryAfterSeconds: undefined }

  test('an earlier answer about these very roles still counts', () => {
    expect(rolesResolvedCondition(tenant(found('UnknownTeam', 'False')), away)).toMatchObject({
      status: 'False',
      message: 'before',
    })
  })

  test('nothing is claimed about roles that changed', () => {
    expect(rolesResolvedCondition(tenant(found('TeamsFound', 'True', 1)), away)).toMatchObject({
      status: 'Unknown',
      message: 'away',
    })
  })

  test('the next check waits as long as GitHub asks, within bounds', () => {
    expect(nextTeamCheckMilliseconds(away)).toBe(600_000)
    expect(nextTeamCheckMilliseconds({ ...away, retryAfterSeconds: 900 })).toBe(900_000)
    expect(nextTeamCheckMilliseconds({ ...away, retryAfterSeconds: 1e9 })).toBe(3_600_000)
  })
})

test('an unknown team does not change Ready, and the status records the check with the wake it saw', () => {
  const status = nextStatus(tenant(), { ...filled, teams: { kind: 'known', teams: [9], missing: [9], askedAt } }, askedAt)
  expect(status.conditions).toMatchObject([
    { type: 'GitHubAccess', status: 'Unknown' },
    { type: 'NetworkPoliciesEnforced', status: 'Unknown' },
    { type: 'Ready', status: 'True' },
    { type: 'RolesResolved', status: 'False' },
    { type: 'WallsHold', status: 'Unknown' },
  ])
  expect(status).toMatchObject({ teamsCheckedAt: askedAt.toISOString(), observedWake: 'w2' })
})

test('a check that is not due leaves the status equal', () => {
  const first = nextStatus(tenant(), { ...filled, teams: { kind: 'known', teams: [1], missing: [], askedAt } }, askedAt)
  const later = new Date('2026-01-01T00:30:00Z')
  expect(nextStatus(tenant(first), { ...filled, teams: { kind: 'not-due' } }, later)).toEqual(first)
})
