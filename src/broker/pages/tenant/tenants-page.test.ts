// The list of all tenants: what needs somebody comes first, names of strangers stay text, and a long list has pages.
import { expect, test } from 'vitest'
import { type Tenant, tenant as tenantKind } from '../../../api/tenancy/tenant.ts'
import { haltObject } from '../../../policy/testing/halt-object.ts'
import type { ListedTenant } from '../../tenants/visible-tenants.ts'
import { choiceIn } from '../state/choice.ts'
import { tenantsPage } from './tenants-page.ts'

const person = { host: 'github.com', userId: 1, login: 'ada', subject: 'github|github.com|1', csrf: 'c' }

function tenant(name: string, { login = name, reason = 'NamespacesReady' } = {}): Tenant {
  const status = reason === 'NamespacesReady' ? 'True' : 'False'
  return {
    apiVersion: tenantKind.apiVersion,
    kind: tenantKind.kind,
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { account: { host: 'github.com', id: 7, login, type: 'Organization' }, namespace: name, roles: [] },
    status: { conditions: [{ type: 'Ready', status, reason, message: 'delete it' }] },
  } as unknown as Tenant
}

const shown = (listed: readonly ListedTenant[], query: Readonly<Record<string, string>> = {}): string =>
  tenantsPage({ person, listed, choice: choiceIn(query) }).toString()
const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/href="\/tenants\/([a-z0-9-]+)"/g)].map(([, name = '']) => name)

test('those come first about which somebody has to do something', () => {
  const halt = haltObject({ type: 'Tenant', tenant: { name: 'umbrella' } })
  const listed = [
    { tenant: tenant('acme') },
    { tenant: tenant('globex', { reason: 'NamespaceTaken' }) },
    { tenant: tenant('umbrella'), halt },
  ]
  const text = shown(listed)
  expect(namesIn(text)).toEqual(['globex', 'umbrella', 'acme'])
  for (const part of ['delete it', 'Halted', '2026-01-01']) expect(text).toContain(part)
  expect(namesIn(shown(listed, { state: 'attention' }))).toEqual(['globex', 'umbrella'])
  expect(namesIn(shown(listed, { name: 'ACM' }))).toEqual(['acme'])
  expect(shown(listed, { name: 'nobody' })).toContain('None of them is what you filter by')
  expect(shown([])).toContain('There is no tenant yet')
})

test('a login is text', () => {
  expect(shown([{ tenant: tenant('acme', { login: '<script>' }) }])).not.toContain('<script>')
})

test('a long list has pages', () => {
  const listed = Array.from({ length: 120 }, (_, index) => ({ tenant: tenant(`t${index + 100}`) }))
  expect(namesIn(shown(listed))).toHaveLength(50)
  const last = shown(listed, { tenants: '3' })
  expect(namesIn(last)).toHaveLength(20)
  expect(last).toContain('101 to 120 of 120')
})
