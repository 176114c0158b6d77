// What owners may change about roles, one row for each refusal, and what the roles are after a change.
import { describe, expect, test } from 'vitest'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { offboardRefusal } from './offboard.ts'
import { changedRoles, lockOf, type Role, type RoleChange, refusalOf } from './role-changes.ts'

const ops = { id: 12, slug: 'ops', name: 'Operations' }
const roles: readonly Role[] = [
  { role: 'admin', subject: { type: 'Owners' } },
  { role: 'viewer', subject: { type: 'Members' } },
  { role: 'developer', subject: { type: 'Team', id: 11, name: 'web' } },
]
const writtenBy = (...managers: readonly string[]) => ({
  managedFields: managers.map(manager => ({ manager, fieldsV1: { 'f:spec': { 'f:roles': {} } } })),
})
function tenantOf(metadata: object = {}, spec: object = {}): Tenant {
  return {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme', uid: 'u', generation: 3, ...writtenBy('sekisho-broker'), ...metadata },
    spec: { account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' }, namespace: 'acme', roles, ...spec },
  } as unknown as Tenant
}
const giveOps: RoleChange = { subject: { type: 'Team', id: 12 }, role: 'viewer' }
const facts = { tenant: tenantOf(), halt: undefined, change: giveOps, seen: { uid: 'u', generation: 3 }, teams: [ops] }
const user = { host: 'github.com', id: 7, login: 'ann', type: 'User' }
const many = Array.from({ length: 100 }, (_, index) => ({ role: 'viewer', subject: { type: 'Team', id: 1000 + index } }))

test('an owner may give a team of the organisation a role', () => {
  expect(refusalOf(facts)).toBeUndefined()
})

test.each<[string, Partial<typeof facts> | object]>([
  ['Ending', { tenant: tenantOf({ deletionTimestamp: '2026-01-01T00:00:00Z' }) }],
  ['Halted', { halt: haltObject({ type: 'Tenant', tenant: { name: 'acme' } }) }],
  ['SetByPlatform', { tenant: tenantOf(writtenBy('sekisho-broker', 'kubectl-edit')) }],
  ['SetByPlatform', { tenant: tenantOf(writtenBy('kubectl-patch'), { roles: [] }) }],
  ['Changed', { seen: { uid: 'u', generation: 2 } }],
  ['Changed', { seen: { uid: 'another', generation: 3 } }],
  ['UserAccount', { tenant: tenantOf({}, { account: user }) }],
  ['MembersAsAdmins', { change: { subject: { type: 'Members' }, role: 'admin' } }],
  ['UnknownTeam', { change: { subject: { type: 'Team', id: 99 }, role: 'viewer' } }],
  ['TooManyRoles', { tenant: tenantOf({}, { roles: many }) }],
])('%s', (reason, change) => {
  expect(refusalOf({ ...facts, ...change } as typeof facts)?.reason).toBe(reason)
})

test('the role of a team that is gone can be taken away', () => {
  expect(refusalOf({ ...facts, teams: [], change: { subject: { type: 'Team', id: 11 }, role: 'none' } })).toBeUndefined()
})

test('writes of other fields by a platform admin lock nothing', () => {
  const limits = { manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:limits': {} } } }
  const managedFields = [...writtenBy('sekisho-broker').managedFields, limits]
  expect(lockOf({ tenant: tenantOf({ managedFields }), halt: undefined })).toBeUndefined()
})

describe('the roles after a change', () => {
  const texts = (some: readonly Role[]) => some.map(({ role, subject }) => `${subject.type} ${subject.id ?? ''} ${role}`)

  test('keep their order; a new one is the last', () => {
    expect(texts(changedRoles(roles, { subject: { type: 'Members' }, role: 'developer' }, undefined))).toEqual([
      'Owners  admin',
      'Members  developer',
      'Team 11 developer',
    ])
    expect(changedRoles(roles, giveOps, ops).at(-1)).toEqual({ role: 'viewer', subject: { type: 'Team', id: 12, name: 'ops' } })
  })

  test('of a team that stands there twice one is left, or none', () => {
    const twice: readonly Role[] = [...roles, { role: 'admin', subject: { type: 'Team', id: 11 } }]
    const subject = { type: 'Team', id: 11 } as const
    expect(texts(changedRoles(twice, { subject, role: 'viewer' }, undefined)).at(-1)).toBe('Team 11 viewer')
    expect(texts(changedRoles(twice, { subject, role: 'none' }, undefined))).toEqual(['Owners  admin', 'Members  viewer'])
  })
})

describe('the end of a tenant', () => {
  const halt = haltObject({ type: 'Tenant', tenant: { name: 'acme' } })

  test.each([
    ['acme', {}, undefined, undefined],
    ['ACME', {}, undefined, 'OtherName'],
    ['acme ', {}, undefined, 'OtherName'],
    ['', {}, undefined, 'OtherName'],
    ['acme', { deletionTimestamp: '2026-01-01T00:00:00Z' }, undefined, 'Ending'],
    ['acme', {}, halt, 'Halted'],
    // Roles that the platform wrote keep nobody from leaving.
    ['acme', writtenBy('kubectl-edit'), undefined, undefined],
  ])('by typing “%s”, %j', (typed, metadata, halted, reason) => {
    expect(offboardRefusal({ tenant: tenantOf(metadata), halt: halted }, typed)?.reason).toBe(reason)
  })
})
