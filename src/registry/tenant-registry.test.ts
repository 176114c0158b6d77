import { expect, test } from 'vitest'
import type { Secret } from '../api/builtin/index.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import { SecretString } from '../lib/secret-string.ts'
import { accountIn, givenSecretName, givenTenantRegistry, namespaceOfGivenSecret, secretData } from './tenant-registry.ts'

const tenant = (namespace: string) => ({ metadata: { name: namespace, uid: 'u' }, spec: { namespace } }) as unknown as Tenant
const config = (user: string) => new SecretString(JSON.stringify({ auths: { 'ghcr.io': { username: user, password: 'p' } } }))

function given(...names: readonly string[]) {
  const held = new Map(names.map(name => [name, { data: secretData(config(name)) } as unknown as Secret]))
  return givenTenantRegistry(name => held.get(name))
}

test('the accounts of a registry come from Secrets of an admin, one for builds and one for pods', () => {
  const registry = given('sekisho-registry-build.acme', 'sekisho-registry-pull.acme')
  const found = registry.credentialsOf(tenant('acme'))
  if (found.kind !== 'credentials') throw new Error(found.kind)
  expect(accountIn(found.build, 'ghcr.io')?.username).toBe('sekisho-registry-build.acme')
  expect(accountIn(found.pull, 'ghcr.io')?.username).toBe('sekisho-registry-pull.acme')
})

test('a missing one is named, and a tenant never gets that of another', () => {
  const registry = given('sekisho-registry-build.acme', 'sekisho-registry-build.globex', 'sekisho-registry-pull.globex')
  expect(registry.credentialsOf(tenant('acme'))).toMatchObject({
    kind: 'missing',
    message: expect.stringContaining('create Secret sekisho-registry-pull.acme'),
  })
  expect(registry.credentialsOf(tenant('acme-inc'))).toMatchObject({ kind: 'missing' })
})

test('a Secret wakes the tenant that it is for', () => {
  expect(namespaceOfGivenSecret(givenSecretName('build', 'acme'))).toBe('acme')
  expect(namespaceOfGivenSecret(givenSecretName('pull', 'acme'))).toBe('acme')
  expect(namespaceOfGivenSecret('sekisho-registry-platform')).toBeUndefined()
  expect(namespaceOfGivenSecret('github-app-key')).toBeUndefined()
})

test.each([
  ['a user and a password', { 'https://ghcr.io/v2/': { username: 'u', password: 'p' } }],
  ['one encoded text', { 'ghcr.io': { auth: Buffer.from('u:p').toString('base64') } }],
])('an account is read from %s', (_what, auths) => {
  const account = accountIn(new SecretString(JSON.stringify({ auths })), 'ghcr.io')
  expect([account?.username, account?.password.reveal()]).toEqual(['u', 'p'])
})

test.each(['', '{}', '[]', '{"auths":{"ghcr.io":{}}}', '{"auths":{"other.io":{"auth":"dTpw"}}}'])('there is none in %j', text => {
  expect(accountIn(new SecretString(text), 'ghcr.io')).toBeUndefined()
})
