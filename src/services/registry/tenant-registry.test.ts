import { expect, test } from 'vitest'
import type { Secret } from '../../api/builtin/index.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { accountIn, givenTenantRegistry, secretData } from './tenant-registry.ts'

const tenant = (namespace: string) => ({ metadata: { name: namespace, uid: 'u' }, spec: { namespace } }) as unknown as Tenant
const config = (user: string) => new SecretString(JSON.stringify({ auths: { 'ghcr.io': { username: user, password: 'p' } } }))

function given(...names: readonly string[]) {
  const held = new Map(names.map(name => [name, { data: secretData(config(name)) } as unknown as Secret]))
  return givenTenantRegistry(async name => {
    const secret = held.get(name)
    return secret === undefined ? { kind: name.endsWith('.closed') ? 'forbidden' : 'absent' } : { kind: 'found', secret }
  })
}

test('the accounts of a registry come from Secrets of an admin, one for builds and one for pods', async () => {
  const registry = given('sekisho-registry-build.acme', 'sekisho-registry-pull.acme')
  const found = await registry.credentialsOf(tenant('acme'))
  if (found.kind !== 'credentials') throw new Error(found.kind)
  expect(accountIn(found.build, 'ghcr.io')?.username).toBe('sekisho-registry-build.acme')
  expect(accountIn(found.pull, 'ghcr.io')?.username).toBe('sekisho-registry-pull.acme')
})

test('a missing one is named, and a tenant never gets that of another', async () => {
  const registry = given('sekisho-registry-build.acme', 'sekisho-registry-build.globex', 'sekisho-registry-pull.globex')
  expect(await registry.credentialsOf(tenant('acme'))).toMatchObject({
    kind: 'missing',
    message: expect.stringContaining('create Secret sekisho-registry-pull.acme'),
  })
  expect(await registry.credentialsOf(tenant('acme-inc'))).toMatchObject({ kind: 'missing' })
})

test('one that the platform may not read is named as such: creating it would not help', async () => {
  expect(await given().credentialsOf(tenant('closed'))).toMatchObject({
    kind: 'missing',
    message: expect.stringContaining('may not read Secret sekisho-registry-build.closed'),
  })
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
