import { describe, expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { type CredentialTenant, createRegistryCredentials, dockerConfig } from './credentials.ts'

const day = 24 * 3_600_000
const period = 30 * day
const key = new SecretString('k'.repeat(44))
const acme: CredentialTenant = { namespace: 'acme', uid: 'uid-1', generation: '' }

function credentials(options: { tenants?: readonly CredentialTenant[]; now?: () => number; key?: SecretString } = {}) {
  const { tenants = [acme], now = () => period * 600 } = options
  return createRegistryCredentials({
    key: options.key ?? key,
    tenantsOf: namespace => tenants.filter(tenant => tenant.namespace === namespace),
    clock: { now: () => new Date(now()), sleep: async () => {} },
  })
}

const verifyWith = (of: ReturnType<typeof credentials>, given: { username: string; password: SecretString }) =>
  of.verify(given.username, given.password.reveal())

describe('registry credentials', () => {
  test('say whose they are and what for', () => {
    const own = credentials()
    expect(verifyWith(own, own.ofTenant('build', acme))).toEqual({ purpose: 'build', namespace: 'acme' })
    expect(verifyWith(own, own.ofTenant('pull', acme))).toEqual({ purpose: 'pull', namespace: 'acme' })
    expect(verifyWith(own, own.ofPlatform())).toEqual({ purpose: 'platform' })
  })

  test('a pull credential is no build credential, and one tenant’s is not another’s', () => {
    const globex = { namespace: 'globex', uid: 'uid-2', generation: '' }
    const own = credentials({ tenants: [acme, globex] })
    const password = own.ofTenant('pull', acme).password.reveal()
    for (const username of [
      'build.acme',
      'pull.globex',
      'build.globex',
      'platform',
      'pull.acme.x',
      'PULL.acme',
      'pull.acme ',
      '',
    ])
      expect(own.verify(username, password)).toBeUndefined()
    expect(own.verify('pull.acme', '')).toBeUndefined()
    expect(own.verify('pull.acme', `${password}x`)).toBeUndefined()
    expect(own.verify('x'.repeat(10_000), password)).toBeUndefined()
  })

  test('end with the tenant: a later tenant of that name has others', () => {
    const before = credentials().ofTenant('build', acme)
    expect(verifyWith(credentials({ tenants: [] }), before)).toBeUndefined()
    expect(verifyWith(credentials({ tenants: [{ ...acme, uid: 'uid-9' }] }), before)).toBeUndefined()
  })

  test('end at once with another generation', () => {
    const before = credentials().ofTenant('build', acme)
    const after = credentials({ tenants: [{ ...acme, generation: '2' }] })
    expect(verifyWith(after, before)).toBeUndefined()
    expect(verifyWith(after, after.ofTenant('build', { ...acme, generation: '2' }))).toBeDefined()
  })

  test('change with their period; the former ones stay valid for a day', () => {
    let now = period * 600 + 5
    const own = credentials({ now: () => now })
    const first = own.ofTenant('build', acme)
    expect(own.nextRotationMilliseconds()).toBe(period - 5)
    now = period * 601 - 1
    expect(own.ofTenant('build', acme).password.equals(first.password)).toBe(true)
    now = period * 601 + 1
    expect(own.ofTenant('build', acme).password.equals(first.password)).toBe(false)
    expect(verifyWith(own, first)).toBeDefined()
    now = period * 601 + day
    expect(verifyWith(own, first)).toBeUndefined()
    expect(verifyWith(own, own.ofTenant('build', acme))).toBeDefined()
  })

  test('depend on the key of the platform', () => {
    const other = credentials({ key: new SecretString('o'.repeat(44)) })
    expect(verifyWith(other, credentials().ofTenant('build', acme))).toBeUndefined()
  })

  test('have Docker’s form', () => {
    const config = JSON.parse(dockerConfig('r:5000', { username: 'u', password: new SecretString('p') }).reveal())
    expect(config).toEqual({ auths: { 'r:5000': { username: 'u', password: 'p', auth: Buffer.from('u:p').toString('base64') } } })
  })
})
