// When a DomainClaim ends: a proved one when nobody uses it, an approved one with its Tenant only.
import { expect, test } from 'vitest'
import { type DomainClaim, domainClaim } from '../../api/tenancy/domain-claim.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import { decide } from './decide.ts'

const acme = { apiVersion: tenant.apiVersion, kind: tenant.kind, metadata: { name: 'acme', uid: 'u' } } as Tenant

function claim(proof: DomainClaim['spec']['proof']): DomainClaim {
  const { apiVersion, kind } = domainClaim
  const spec = { host: 'a.test', tenant: { name: 'acme', uid: 'u' }, proof }
  return { apiVersion, kind, metadata: { name: 'a.test', uid: 'c' }, spec }
}

test.each([
  ['a proved claim in use', { proof: 'DNS', tenant: acme, isUsed: true }, { kind: 'keep', ready: { reason: 'Held' } }],
  ['a proved claim that nobody uses', { proof: 'DNS', tenant: acme, isUsed: false }, { kind: 'release' }],
  ['a proved claim without its Tenant', { proof: 'DNS', tenant: undefined, isUsed: true }, { kind: 'release' }],
  [
    'an approved claim that nobody uses',
    { proof: 'Approval', tenant: acme, isUsed: false },
    { kind: 'keep', ready: { reason: 'Held' } },
  ],
  [
    'an approved claim for a Tenant that does not exist',
    { proof: 'Approval', tenant: undefined, isUsed: false },
    { kind: 'keep', ready: { status: 'False', reason: 'TenantNotFound' } },
  ],
] as const)('%s', (_what, { proof, ...facts }, expected) => {
  expect(decide({ claim: claim(proof), ...facts })).toMatchObject(expected)
})
