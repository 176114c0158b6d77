// What the desk writes into the log fits into an entry, however large a grant is, and never contains the token.
import { expect, test } from 'vitest'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { storableRecord } from '../../../store/audit/audit-record.ts'
import type { LiveToken } from '../../../store/token-registry.ts'
import { deliveryOf, platformFacts, refusalOf, requestFacts, tokenRecord } from './desk-audit.ts'

const repositories = Array.from({ length: 50 }, (_, index) => ({ id: 9_007_199_254_740_000 + index, name: 'n'.repeat(140) }))
const permissions = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`organization_custom_permission_${index}`, 'write' as const]),
)
const grant: RepositoryGrant = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'RepositoryGrant',
  metadata: { name: 'g'.repeat(253), namespace: 'n'.repeat(63), uid: 'g-1', generation: 1 },
  spec: {
    ...{ installation: 'github', repositories: [], permissions, subjects: [], delivery: 'TokenEndpoint' },
    ...{ lifetimeSeconds: 60, reason: 'r'.repeat(500), requestedBy: `github|${'h'.repeat(253)}|1` },
  },
  status: { rule: 'r'.repeat(253), observedInputs: 'i'.repeat(64), requester: { login: 'l'.repeat(100) }, repositories },
}
const subject = { kind: 'ServiceAccount', namespace: 'n'.repeat(63), name: 's'.repeat(253), uid: 'u'.repeat(36) }
const secret = `ghs_${'a'.repeat(36)}`
const token: LiveToken = {
  ...{ id: 't-1', cacheKey: 'k', api: 'https://api', grantUid: 'g-1', grantName: grant.metadata.name, subject, permissions },
  installation: { host: 'h'.repeat(253), appId: 1, installationId: 2 },
  repositoryIds: repositories.map(({ id }) => id),
  token: new SecretString(secret),
  expiresAt: new Date(0),
  mintedAt: new Date(0),
}
const request = (pod: string) => ({
  grant,
  subject,
  actor: 'a'.repeat(300),
  from: {
    pod: { name: 'p'.repeat(253), uid: pod },
    address: 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255',
    pullRequest: 2 ** 31,
  },
})

test('a delivery names grant, pod and token by its hash, and fits into an entry', () => {
  const { record, within } = deliveryOf(request('p-1'), token, requestFacts(request('p-1'), grant), 'why')
  // printf %s ghs_aaaa… | openssl dgst -sha256 -binary | base64
  expect(storableRecord(record).details).toMatchObject({
    hashedToken: '0JD8w5taoF5LUYl3wHovzzruZ41HMLffeIZTmZZpQFk=',
    pod: { uid: 'p-1' },
    person: grant.spec.requestedBy,
    generation: 1,
  })
  expect(JSON.stringify(record)).not.toContain(secret)
  expect(within?.others.details).not.toHaveProperty('pod')
  expect(within?.others.details).not.toHaveProperty('address')
})

test('deliveries to two pods are not equal', () => {
  const keys = ['p-1', 'p-2'].map(pod => deliveryOf(request(pod), token, {}, 'why').key)
  expect(new Set(keys).size).toBe(2)
})

test('a refusal says whose grant it is, and fits into an entry', () => {
  const { record } = refusalOf(request('p-1'), { check: 'NotASubject', reason: 'no', facts: requestFacts(request('p-1'), grant) })
  expect(storableRecord(record).details).toMatchObject({ person: grant.spec.requestedBy, grantUid: 'g-1', check: 'NotASubject' })
})

test('the late end of a token that the platform uses itself stands beside its beginning, where readers of the tenant see it', () => {
  const platform = { kind: 'Controller', namespace: 'sekisho-system', name: 'sekisho:installations', uid: '' }
  const facts = platformFacts({ namespace: 'acme', object: 'Installation/acme/github' })
  const own = { ...token, grantName: '', grantUid: '', subject: platform, facts }
  const record = tokenRecord(own, { action: 'token.revoked', outcome: 'allowed', reason: 'retried' })
  expect(record).toMatchObject({ namespace: 'acme', object: 'Installation/acme/github', details: { token: 't-1' } })
  expect(record.details).not.toHaveProperty('recordedAt')
  // Rows of before this was recorded.
  const older = tokenRecord({ ...own, facts: {} }, { action: 'token.revoked', outcome: 'allowed', reason: 'retried' })
  expect(older).toMatchObject({ namespace: 'sekisho-system', object: 'sekisho:installations' })
})
