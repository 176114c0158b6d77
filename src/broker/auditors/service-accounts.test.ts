// Whose token reads the audit log: what is refused before the API server is asked, and what its answer must say.
import { expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import type { TokenReview } from '../../api/builtin/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createServiceAccounts } from './service-accounts.ts'

const clock = movableClock()
const seconds = clock.now().getTime() / 1000
const claims = {
  aud: ['sekisho-audit'],
  iat: seconds,
  exp: seconds + 3600,
  'kubernetes.io': { namespace: 'siem', serviceaccount: { name: 'export', uid: 'u' } },
}
const user = { username: 'system:serviceaccount:siem:export', uid: 'u', groups: ['system:masters'] }
const good: TokenReview['status'] = { authenticated: true, audiences: ['sekisho-audit'], user }

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenOf = (payload: unknown): SecretString => new SecretString(`${encoded({ alg: 'RS256' })}.${encoded(payload)}.c2ln`)

function fixture(status: TokenReview['status'] | 'away' = good) {
  const asked: unknown[] = []
  const create = async (_type: unknown, object: { readonly spec: unknown }) => {
    asked.push(object.spec)
    if (status === 'away') throw new KubeError('away', { status: 503, reason: 'Unreachable' })
    return { ...object, status }
  }
  const accounts = createServiceAccounts({ kube: { create: create as unknown as KubeClient['create'] }, clock })
  return { asked, identify: (payload: unknown, address = '10.0.0.1') => accounts.identify(tokenOf(payload), address) }
}

const refused = { code: 'unauthenticated', message: expect.stringContaining('have the audience sekisho-audit') }

test('a token that the API server accepts for our audience names its ServiceAccount, and no group', async () => {
  const { asked, identify } = fixture()
  expect(await identify(claims)).toEqual({
    ...{ namespace: 'siem', name: 'export', uid: 'u', username: user.username, extra: {} },
    expiresAt: new Date((seconds + 3600) * 1000),
  })
  expect(asked).toEqual([{ token: tokenOf(claims).reveal(), audiences: ['sekisho-audit'] }])
})

test.each([
  ['an ID token of a person', { aud: 'kubernetes', exp: seconds + 600, iat: seconds, sub: 'github|github.com|1' }],
  ['no JWT payload', 'text'],
])('%s is none', async (_case, payload) => {
  const { asked, identify } = fixture()
  expect(await identify(payload)).toBeUndefined()
  expect(asked).toEqual([])
})

test.each([
  ['another audience', { ...claims, aud: ['https://kubernetes.default.svc'] }],
  ['the audience of the token desk', { ...claims, aud: ['sekisho'] }],
  ['no audience', { ...claims, aud: undefined }],
  ['an end in the past', { ...claims, exp: seconds - 61 }],
  ['a life of more than a day', { ...claims, exp: seconds + 86_401 }],
  ['no beginning', { ...claims, iat: undefined }],
])('a token with %s is refused before the API server is asked', async (_case, payload) => {
  const { asked, identify } = fixture()
  await expect(identify(payload)).rejects.toMatchObject(refused)
  expect(asked).toEqual([])
})

test.each<readonly [string, TokenReview['status']]>([
  ['nothing', {}],
  ['that it is not authenticated, with a user', { ...good, authenticated: false }],
  ['another audience', { ...good, audiences: ['sekisho'] }],
  ['no audience', { authenticated: true, user }],
  ['a person', { ...good, user: { ...user, username: 'github|github.com|1' } }],
  ['a node', { ...good, user: { ...user, username: 'system:node:a' } }],
  ['an account without uid', { ...good, user: { username: user.username } }],
])('a token is refused when the API server says %s', async (_case, status) => {
  await expect(fixture(status).identify(claims)).rejects.toMatchObject(refused)
})

test('nobody is known while the API server is away', async () => {
  await expect(fixture('away').identify(claims)).rejects.toMatchObject({ code: 'unavailable' })
})

test('one address is limited before the API server is asked, another is not', async () => {
  const { asked, identify } = fixture({ ...good, authenticated: false })
  for (let index = 0; index < 50; index++) await expect(identify(claims)).rejects.toMatchObject(refused)
  await expect(identify(claims)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 1 })
  expect(asked).toHaveLength(50)
  await expect(identify(claims, '10.0.0.2')).rejects.toMatchObject(refused)
})

test('one account is limited, from wherever it asks', async () => {
  const { identify } = fixture()
  for (let index = 0; index < 60; index++) await identify(claims, `10.0.1.${index}`)
  await expect(identify(claims, '10.0.2.1')).rejects.toMatchObject({ code: 'too_many_requests' })
})
