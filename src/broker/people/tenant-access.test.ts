import { expect, test } from 'vitest'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { tenantRole } from './tenant-access.ts'

const tenant: Tenant = {
  apiVersion: 'tenancy.sekisho.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'acme' },
  spec: {
    account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' },
    namespace: 'acme',
    roles: [
      { role: 'viewer', subject: { type: 'Members' } },
      { role: 'admin', subject: { type: 'Owners' } },
      { role: 'developer', subject: { type: 'Team', id: 11, name: 'developers' } },
      { role: 'developer', subject: { type: 'User', id: 42 } },
      { role: 'auditor', subject: { type: 'Team', id: 12, name: 'security' } },
    ],
  },
}

test.each([
  [['github|github.com|org|7|members'], 'viewer'],
  [['github|github.com|org|7|members', 'github|github.com|org|7|team|11'], 'developer'],
  [['github|github.com|org|7|members', 'github|github.com|org|7|owners'], 'admin'],
  [['github|github.com|org|7|team|12'], 'auditor'],
  [['github|github.com|org|7|members', 'github|github.com|org|7|team|12'], 'viewer'],
  [['github|github.com|org|8|owners', 'github|other.example|org|7|owners'], undefined],
  [['developers', 'acme', 'github|github.com|org|7|team|1'], undefined],
  [[], undefined],
])('groups %j have the role %s', (groups, role) => {
  expect(tenantRole({ subject: 'github|github.com|1', groups }, tenant)).toBe(role)
})

test('a named person has their role on their own host only', () => {
  expect(tenantRole({ subject: 'github|github.com|42', groups: [] }, tenant)).toBe('developer')
  expect(tenantRole({ subject: 'github|other.example|42', groups: [] }, tenant)).toBeUndefined()
})
