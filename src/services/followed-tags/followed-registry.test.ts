import { describe, expect, test } from 'vitest'
import { followedRegistry, mayGiveTokens } from './followed-registry.ts'

describe('an item of the list', () => {
  test.each([
    ['ghcr.io', { host: 'ghcr.io', origin: 'https://ghcr.io', tokenHosts: ['ghcr.io'], insecure: false }],
    [
      'docker.io',
      {
        host: 'docker.io',
        origin: 'https://registry-1.docker.io',
        tokenHosts: ['registry-1.docker.io', 'auth.docker.io'],
        insecure: false,
      },
    ],
    [
      'registry.gitlab.com=gitlab.com',
      {
        host: 'registry.gitlab.com',
        origin: 'https://registry.gitlab.com',
        tokenHosts: ['registry.gitlab.com', 'gitlab.com'],
        insecure: false,
      },
    ],
    [
      'http://registry.internal:5000',
      {
        host: 'registry.internal:5000',
        origin: 'http://registry.internal:5000',
        tokenHosts: ['registry.internal:5000'],
        insecure: true,
      },
    ],
  ])('%s', (item, expected) => {
    expect(followedRegistry(item)).toEqual(expected)
  })

  // Each could mean more than one host, another host than it seems to, or none that a reference has.
  test.each([
    '*',
    '*.io',
    'GHCR.io',
    'https://ghcr.io',
    'ghcr.io/acme',
    'user@ghcr.io',
    'ghcr.io:443',
    '2130706433',
    'a=b=c',
    'ghcr.io#',
  ])('%s is refused', item => {
    expect(() => followedRegistry(item)).toThrow('it must hold only hosts in lower case such as ghcr.io')
  })
})

test.each([
  ['ghcr.io', 'https://ghcr.io/token', true],
  ['docker.io', 'https://auth.docker.io/token', true],
  ['ghcr.io', 'https://auth.docker.io/token', false],
  ['ghcr.io', 'http://ghcr.io/token', false],
  ['ghcr.io', 'https://ghcr.io:8443/token', false],
  ['ghcr.io', 'https://ghcr.io.evil.example/token', false],
  ['ghcr.io', 'http://169.254.169.254/latest/meta-data', false],
  ['http://registry.internal:5000', 'http://registry.internal:5000/token', true],
  ['http://registry.internal:5000', 'ftp://registry.internal:5000/token', false],
])('the token server of %s may be %s: %s', (item, realm, expected) => {
  expect(mayGiveTokens(followedRegistry(item), new URL(realm))).toBe(expected)
})
