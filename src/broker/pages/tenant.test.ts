import { expect, test } from 'vitest'
import { type Tenant, tenant as tenantKind } from '../../api/tenancy/tenant.ts'
import { tenantPage } from './tenant.ts'

const created = new Date('2026-01-01T00:00:00Z')
const person = { host: 'github.com', userId: 1, login: 'olivia', subject: 'github|github.com|1', csrf: 'c' }

function page(minutes: number, login = 'acme'): string {
  const tenant: Tenant = {
    apiVersion: tenantKind.apiVersion,
    kind: tenantKind.kind,
    metadata: { name: 'acme', creationTimestamp: created.toISOString() },
    spec: { account: { host: 'github.com', id: 7, login, type: 'Organization' }, namespace: 'acme', roles: [] },
  }
  const now = new Date(created.getTime() + minutes * 60_000)
  return tenantPage({ person, tenant, role: 'admin', installations: [], issuer: 'https://here.example', now }).toString()
}

test('a page that waits reloads often while the tenant is young, and seldom later', () => {
  expect(page(1)).toContain('http-equiv="refresh" content="3"')
  expect(page(6)).toContain('http-equiv="refresh" content="60"')
})

test('names from outside are text', () => {
  expect(page(1, '<script>')).toContain('<strong>&lt;script&gt;</strong>')
})
