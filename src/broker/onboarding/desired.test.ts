import { expect, test } from 'vitest'
import { ceilingOf } from './ceiling.ts'
import { desiredRoles } from './desired.ts'
import type { ProvedIntent } from './onboarding-records.ts'

const intent: ProvedIntent = {
  app: 'default',
  account: { host: 'github.com', id: 7, login: 'Acme', type: 'Organization' },
  boundBy: { id: 1, login: 'olivia' },
  proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00.000Z' },
  ceiling: { repositories: 'All', permissions: { contents: 'read' } },
  teams: [{ id: 11, slug: 'developers' }],
}
const facts = {
  id: 5,
  appId: 1,
  account: { id: 7, login: 'Acme', type: 'Organization' as const },
  suspendedAt: undefined,
  repositorySelection: 'selected' as const,
  permissions: {
    contents: 'admin',
    metadata: 'read',
    administration: 'write',
    organization_secrets: 'write',
    secrets: 'read',
    issues: 'none',
  },
}

test('owners are admins, members viewers, chosen teams developers', () => {
  expect(desiredRoles(intent).map(({ role, subject }) => [role, subject.type, subject.id])).toEqual([
    ['admin', 'Owners', undefined],
    ['viewer', 'Members', undefined],
    ['developer', 'Team', 11],
  ])
})

test('a user account has one role: its holder is admin', () => {
  const own = { ...intent, account: { ...intent.account, type: 'User' as const }, teams: [] }
  expect(desiredRoles(own)).toEqual([{ role: 'admin', subject: { type: 'User', id: 7, name: 'Acme' } }])
})

test('the ceiling is what GitHub granted, limited to what the platform issues', () => {
  expect(ceilingOf(facts, [3, 1, 3])).toEqual({
    repositories: 'Selected',
    repositoryIds: [1, 3],
    permissions: { contents: 'write', metadata: 'read' },
  })
  expect(ceilingOf({ ...facts, repositorySelection: 'all' }, [])).not.toHaveProperty('repositoryIds')
})

test('more selected repositories than an Installation can name are refused with the cure, and none is left out', () => {
  const ids = Array.from({ length: 1001 }, (_, index) => index + 1)
  expect(ceilingOf(facts, ids.slice(1)).repositoryIds).toHaveLength(1000)
  expect(() => ceilingOf(facts, ids)).toThrow(/1001 repositories are selected.*select fewer, or all/)
  expect(ceilingOf({ ...facts, repositorySelection: 'all' }, ids)).not.toHaveProperty('repositoryIds')
})
