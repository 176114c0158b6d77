// Whose login is known: the newest answer of GitHub in the same namespace, and of nobody else.
import { expect, test } from 'vitest'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { createKnownLogins } from './known-logins.ts'

const mia = 'github|github.com|7'

function grant(namespace: string, requestedBy: string, status?: object): RepositoryGrant {
  return { metadata: { name: 'g', namespace }, spec: { requestedBy }, status } as unknown as RepositoryGrant
}

/** A cache with one index. */
function cacheOf(all: readonly RepositoryGrant[]) {
  let keysOf: (grant: RepositoryGrant) => readonly string[] = () => []
  return {
    addIndex(_name: string, keys: (grant: RepositoryGrant) => readonly string[]) {
      keysOf = keys
    },
    byIndex: (_name: string, key: string) => all.filter(one => keysOf(one).includes(key)),
  }
}

test('the login is that of the last answer, in the same namespace', () => {
  const knownLogin = createKnownLogins(
    cacheOf([
      grant('acme', mia, { requester: { login: 'mia-before' }, checkedAt: '2026-01-01T00:00:00Z' }),
      grant('acme', mia, { requester: { login: 'mia' }, checkedAt: '2026-01-03T00:00:00Z' }),
      grant('acme', mia, { checkedAt: '2026-01-04T00:00:00Z' }),
      grant('acme', mia),
      grant('acme', 'github|github.com|70', { requester: { login: 'noah' }, checkedAt: '2026-01-05T00:00:00Z' }),
      grant('globex', mia, { requester: { login: 'other' }, checkedAt: '2026-01-05T00:00:00Z' }),
    ]),
  )
  expect(knownLogin('acme', mia)).toBe('mia')
  expect(knownLogin('acme', 'github|github.com|70')).toBe('noah')
  expect(knownLogin('acme', 'system:serviceaccount:acme:ci')).toBeUndefined()
})
