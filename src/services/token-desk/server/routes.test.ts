// What a flood of requests costs the API server: junk nothing, one address little, and one tenant's flood nothing of another
// tenant's share.
import { expect, onTestFinished, test } from 'vitest'
import type { KubeClient } from '../../../kube/client/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { createFakeClock } from '../../../lib/testing/fake-clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { createWebServer } from '../../../web/server.ts'
import { tokenRoutes } from './routes.ts'
import { workloadIdentifier } from './workload.ts'

const inAnHour = 3600

function bearerOf(namespace: string, change: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    aud: ['sekisho'],
    exp: inAnHour,
    'kubernetes.io': { namespace, pod: { name: 'job', uid: 'pod' }, serviceaccount: { name: 'runner', uid: 'uid' } },
    ...change,
  }
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`
}

/** The API server knows every plausible token, except those with the claim `forged`. */
async function withServer() {
  const counts = { reviews: 0, reads: 0, requests: 0 }
  const create = async (_type: unknown, { spec }: { readonly spec: { readonly token: string } }) => {
    counts.reviews += 1
    const claims = JSON.parse(Buffer.from(spec.token.split('.')[1] ?? '', 'base64url').toString())
    if (claims.forged) return { status: { authenticated: false } }
    const extra = {
      'authentication.kubernetes.io/pod-name': ['job'],
      'authentication.kubernetes.io/pod-uid': ['pod'],
    }
    const username = `system:serviceaccount:${claims['kubernetes.io'].namespace}:runner`
    return { status: { authenticated: true, audiences: ['sekisho'], user: { username, uid: 'uid', extra } } }
  }
  const get = async () => {
    counts.reads += 1
    return { metadata: { uid: 'pod' }, spec: { serviceAccountName: 'runner' }, status: { phase: 'Running' } }
  }
  const clock = createFakeClock(0)
  const server = await createWebServer({ log: silentLog, requestsPerMinute: 'unlimited' })
  const desk = {
    grantUid: async () => 'uid',
    request: async () => {
      counts.requests += 1
      throw new AppError('forbidden', 'no')
    },
  }
  const client = { create, get } as unknown as KubeClient
  await server.register(tokenRoutes({ desk, identify: workloadIdentifier({ client, clock }) }))
  onTestFinished(() => server.close())
  const ask = (bearer: string, remoteAddress: string, headers: Readonly<Record<string, string>> = {}) =>
    server.inject({
      method: 'POST',
      url: '/v1/token',
      remoteAddress,
      headers: { ...headers, authorization: `Bearer ${bearer}` },
      payload: { grant: 'read-shop' },
    })
  return { counts, clock, ask }
}

test.each([
  ['nothing', ''],
  ['a text', 'junk'],
  ['three parts that are not JSON', 'a.b.c'],
  ['a token for the API server', bearerOf('acme', { aud: ['https://kubernetes.default.svc'] })],
  ['an expired token', bearerOf('acme', { exp: -61 })],
  ['a token without an end', bearerOf('acme', { exp: undefined })],
  ['a token that is bound to no pod', bearerOf('acme', { 'kubernetes.io': { namespace: 'acme' } })],
  ['a token of another issuer', bearerOf('acme', { 'kubernetes.io': undefined })],
  ['a token that is too long', bearerOf('acme', { filler: 'x'.repeat(16_384) })],
])('%s is refused without asking the API server', async (_name, bearer) => {
  const { counts, ask } = await withServer()
  for (let request = 0; request < 100; request++) expect((await ask(bearer, '10.0.0.1')).statusCode).toBe(401)
  expect(counts).toEqual({ reviews: 0, reads: 0, requests: 0 })
})

test('one address is limited before the API server is asked, and the answer says when to retry', async () => {
  const { counts, clock, ask } = await withServer()
  const forged = bearerOf('globex', { forged: true })
  for (let request = 0; request < 500; request++) await ask(forged, '10.0.0.1')
  expect(counts.reviews).toBe(50)
  const refused = await ask(forged, '10.0.0.1')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
  // What a request says about where it came from does not count.
  expect((await ask(forged, '10.0.0.1', { 'x-forwarded-for': '10.9.9.9', 'x-real-ip': '10.9.9.9' })).statusCode).toBe(429)
  // The namespace that the forged tokens claim, and other addresses, have lost nothing.
  for (let request = 0; request < 50; request++) expect((await ask(bearerOf('globex'), '10.0.0.2')).statusCode).toBe(403)
  await clock.advance(10_000)
  for (let request = 0; request < 500; request++) await ask(forged, '10.0.0.1')
  expect(counts.reviews).toBe(50 + 50 + 50)
})

test('all pods of one namespace share a limit, and other namespaces have their own', async () => {
  const { counts, ask } = await withServer()
  for (let pod = 0; pod < 20; pod++) for (let request = 0; request < 50; request++) await ask(bearerOf('acme'), `10.0.1.${pod}`)
  expect([counts.requests, counts.reads]).toEqual([200, 200])
  expect((await ask(bearerOf('acme'), '10.0.2.1')).statusCode).toBe(429)
  expect((await ask(bearerOf('globex'), '10.0.2.2')).statusCode).toBe(403)
})
