import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundGroups, groupsOf, type MembershipFacts, maxGroups } from './groups.ts'

const host = 'github.com'
const team = (id: number, organizationId: number, parentId?: number) => ({ id, organizationId, parentId })
const facts = (change: Partial<MembershipFacts>): MembershipFacts => ({
  host,
  memberships: [],
  teams: [],
  knownTeams: [],
  ...change,
})

test('owners are members too; teams go by numeric ids', () => {
  const groups = groupsOf(
    facts({
      memberships: [
        { organizationId: 7, owner: true },
        { organizationId: 8, owner: false },
      ],
      teams: [team(11, 7)],
    }),
    new Set(),
  )
  expect(groups).toEqual([
    'github|github.com|org|7|members',
    'github|github.com|org|7|owners',
    'github|github.com|org|7|team|11',
    'github|github.com|org|8|members',
  ])
})

test('parents of parents count, also one that could not be read, and a cycle ends', () => {
  const memberships = [{ organizationId: 7, owner: false }]
  const nested = facts({ memberships, teams: [team(1, 7, 2)], knownTeams: [team(2, 7, 3)] })
  expect(groupsOf(nested, new Set()).slice(1)).toEqual([1, 2, 3].map(id => `github|github.com|org|7|team|${id}`))
  const circle = facts({ memberships, teams: [team(1, 7, 2), team(2, 7, 1)] })
  expect(groupsOf(circle, new Set())).toHaveLength(3)
})

test('a team of an organisation in which the person is not an active member gives no group', () => {
  expect(groupsOf(facts({ teams: [team(1, 7)] }), new Set())).toEqual([])
})

test('beyond the limit only groups that roles name are kept, and never more than the limit', () => {
  const teams = Array.from({ length: 400 }, (_value, index) => team(index + 1, 7))
  const many = facts({ memberships: [{ organizationId: 7, owner: false }], teams })
  expect(groupsOf(many, new Set(['github|github.com|org|7|team|399']))).toEqual(['github|github.com|org|7|team|399'])
  const all = new Set(teams.map(({ id }) => `github|github.com|org|7|team|${id}`))
  expect(groupsOf(many, all)).toHaveLength(maxGroups)
})

test('whatever GitHub answers, no group is privileged', () => {
  const id = fc.integer({ min: 1, max: 1000 })
  const someTeam = fc.record({ id, organizationId: id, parentId: fc.option(id, { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(fc.record({ organizationId: id, owner: fc.boolean() })), fc.array(someTeam), (memberships, teams) => {
      for (const group of groupsOf(facts({ memberships, teams }), new Set()))
        expect(group).toMatch(/^github\|github\.com\|org\|\d+\|/)
    }),
  )
})

test('bound groups are those that roles of tenants name', () => {
  const account = { host, id: 7, login: 'acme', type: 'Organization' as const }
  const roles = [
    { role: 'admin' as const, subject: { type: 'Owners' as const } },
    { role: 'developer' as const, subject: { type: 'Team' as const, id: 11 } },
    { role: 'viewer' as const, subject: { type: 'User' as const, id: 1 } },
  ]
  const tenant = { apiVersion: 'v', kind: 'Tenant', metadata: { name: 'acme' }, spec: { account, namespace: 'acme', roles } }
  expect([...boundGroups([tenant])]).toEqual(['github|github.com|org|7|owners', 'github|github.com|org|7|team|11'])
})
