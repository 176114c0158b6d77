// How Tenants and grants are counted: every class is a series, also one that nobody is in.
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { GrantApproval } from '../api/github/grant-approval.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import { grantObject, ready } from '../services/token-desk/testing/desk-objects.ts'
import { createBreakGlassCounter, createObjectMetrics } from './metrics.ts'

test('counts what the caches have at each scrape', async () => {
  const registry = new Registry()
  const { status: _status, ...undecided } = grantObject()
  const grants = [grantObject(), grantObject({ status: { conditions: [ready('False')] } }), undecided]
  const tenants = [{ status: { conditions: [ready('False')] } }, {}] as unknown as Tenant[]
  const answer = (breakGlass: boolean | undefined, status: 'True' | 'False') =>
    ({ spec: { breakGlass }, status: { conditions: [ready(status)] } }) as unknown as GrantApproval
  const approvals = [answer(true, 'True'), answer(true, 'False'), answer(undefined, 'True'), answer(false, 'True')]
  createObjectMetrics(registry, {
    tenants: { list: () => tenants },
    grants: { list: () => grants },
    approvals: { list: () => approvals },
  })
  const counts = async (name: string) =>
    ((await registry.getSingleMetric(name)?.get())?.values ?? []).map(({ labels, value }) =>
      [...Object.values(labels), value].join(' '),
    )
  expect(await counts('sekisho_grants')).toEqual([
    'Approved true 1',
    'Approved false 1',
    'Waiting true 0',
    'Waiting false 0',
    'Denied true 0',
    'Denied false 0',
    'Undecided true 0',
    'Undecided false 1',
  ])
  expect(await counts('sekisho_tenants')).toEqual(['true 0', 'false 2'])
  expect(await counts('sekisho_break_glass_approvals')).toEqual(['1'])
  tenants.pop()
  expect(await counts('sekisho_tenants')).toEqual(['true 0', 'false 1'])
})

test('break-glass has a series before it is ever used, and what was counted stands', async () => {
  const registry = new Registry()
  const count = createBreakGlassCounter(registry)
  const value = async () => (await registry.getSingleMetric('sekisho_break_glass_total')?.get())?.values[0]?.value
  expect(await value()).toBe(0)
  count()
  expect(await value()).toBe(1)
})
