// The rule names its kinds one by one: a kind that the roles let tenants write must be among them.
import { expect, test } from 'vitest'
import { tenantRoles } from '../../../api/names.ts'
import { tenantRoleRules } from '../../../api/tenancy/tenant-roles.ts'
import { reservedMetadata } from './reserved-metadata.ts'

test('every kind that a tenant may create or change is examined', () => {
  const examined = new Set(reservedMetadata.matches.flatMap(({ group, resources }) => resources.map(name => `${name}.${group}`)))
  const written = (tenantRoleRules().get(tenantRoles.admin) ?? [])
    .filter(({ verbs }) => verbs.some(verb => ['create', 'update', 'patch'].includes(verb)))
    .flatMap(({ apiGroups, resources }) => apiGroups.flatMap(group => resources.map(name => `${name}.${group}`)))
    // A subresource such as `scale` has no metadata of its own.
    .filter(name => !name.includes('/'))
  expect(written.length).toBeGreaterThan(10)
  expect(written.filter(name => !examined.has(name))).toEqual([])
})
