// The page on which an owner confirms, for a new account and for one that has its tenant already; and the link on pages of
// errors.
import { expect, test } from 'vitest'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { ProvedIntent } from '../onboarding/onboarding-records.ts'
import { errorPage } from './layout.ts'
import { confirmPage } from './onboard.ts'

const person = { host: 'github.com', userId: 1, login: 'olivia', subject: 'github|github.com|1', csrf: 'c' }
const account = { host: 'github.com', id: 2, login: 'acme', type: 'Organization' as const }
const intent = {
  account,
  ceiling: { repositories: 'All', permissions: { contents: 'read' } },
} as unknown as ProvedIntent
const tenant = {
  metadata: { name: 'acme' },
  spec: { account, namespace: 'acme', roles: [{ role: 'developer', subject: { type: 'Team', id: 11, name: 'web' } }] },
} as unknown as Tenant
const teams = [
  { id: 11, name: 'Web', slug: 'web' },
  { id: 12, name: 'Data', slug: 'data' },
]
const shown = (existing: Tenant | undefined): string =>
  confirmPage({ person, onboardingId: 'o', intent, teams, tenant: existing }).toString()

test('a new account gets a tenant, and no team is chosen', () => {
  expect(shown(undefined)).toContain('Create the tenant')
  expect(shown(undefined)).not.toContain('checked')
})

test('an account with a tenant updates it: its roles stay, and the page leads to them', () => {
  const page = shown(tenant)
  expect(page).toContain('Update the tenant')
  expect(page).not.toContain('Create the tenant')
  expect(page).toContain('has the tenant <a href="/tenants/acme">acme</a> already')
  expect(page).toContain('href="/tenants/acme/roles"')
  // Nothing is claimed about who has which role, and no team can be chosen.
  expect(page).not.toContain('administer the tenant')
  expect(page).not.toContain('name="team"')
})

test('an error that names where to begin again links to it, and is text otherwise', () => {
  expect(errorPage('<b>: begin again at /onboard', 'r', 404).toString()).toContain(
    '&lt;b&gt;: begin again at <a href="/onboard">/onboard</a></p>',
  )
  expect(errorPage('nothing at /other', 'r', 404).toString()).toContain('<p role="alert">nothing at /other</p>')
})
