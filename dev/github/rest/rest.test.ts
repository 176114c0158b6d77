// The REST API in general: credentials, headers, pages, ETags, limits, versions, bodies.
import { createPrivateKey, sign } from 'node:crypto'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { exchange } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'

let emulator: RunningEmulator
let clients: RestClients

beforeAll(async () => {
  emulator = await startStockedEmulator({
    app: { callbackUrls: ['http://127.0.0.1:9/callback'] },
    rateLimit: { authenticated: 5000, anonymous: 3, enforced: true },
  })
  clients = createRestClients(emulator)
})
afterAll(() => emulator.stop())

function get(path: string, headers: Record<string, string> = {}) {
  return fetch(`${emulator.apiUrl}${path}`, { headers })
}

function as(login: string) {
  return { authorization: `Bearer ${emulator.personalTokens[login]}` }
}

function jwt(claims: Record<string, unknown>, header: Record<string, unknown> = { alg: 'RS256', typ: 'JWT' }): string {
  const text = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), createPrivateKey(emulator.app.privateKeyPem)).toString('base64url')}`
}

function seconds() {
  return Math.floor(Date.now() / 1000)
}

describe('the JSON web token of an App', () => {
  const answer = async (token: string) => {
    const response = await get('/app', { authorization: `Bearer ${token}` })
    const { message } = (await response.json()) as { message?: string }
    return [response.status, message]
  }

  test('is accepted with the client id or the App id as issuer', async () => {
    for (const iss of [emulator.app.clientId, emulator.app.id, String(emulator.app.id)]) {
      expect((await answer(jwt({ iss, iat: seconds() - 60, exp: seconds() + 540 })))[0]).toBe(200)
    }
  })

  test.each([
    ['expires too late', () => ({ iat: seconds(), exp: seconds() + 700 }), 401, /too far in the future/],
    ['has expired', () => ({ iat: seconds() - 900, exp: seconds() - 1 }), 401, /future time/],
    ['was issued in the future', () => ({ iat: seconds() + 120, exp: seconds() + 300 }), 401, /Issued at/],
    ['has no expiry', () => ({ iat: seconds() }), 401, /Expiration time/],
    ['is of an unknown App', () => ({ iss: 'Iv23nobody', iat: seconds(), exp: seconds() + 60 }), 404, /Integration not found/],
  ])('that %s is refused', async (_what, claims, status, message) => {
    const [got, text] = await answer(jwt({ iss: emulator.app.clientId, ...claims() }))
    expect(got).toBe(status)
    expect(text).toMatch(message)
  })

  test('is refused with another algorithm or a changed body', async () => {
    const claims = { iss: emulator.app.clientId, iat: seconds(), exp: seconds() + 60 }
    const none = `${[{ alg: 'none' }, claims].map(one => Buffer.from(JSON.stringify(one)).toString('base64url')).join('.')}.`
    expect((await answer(none))[0]).toBe(401)
    expect((await answer(jwt(claims, { alg: 'HS256' })))[0]).toBe(401)
    const [head, , signature] = jwt(claims).split('.')
    const changed = Buffer.from(JSON.stringify({ ...claims, exp: seconds() + 590 })).toString('base64url')
    expect((await answer(`${head}.${changed}.${signature}`))[0]).toBe(401)
  })

  test('permits the routes of the App only, and no other credential permits those', async () => {
    const token = jwt({ iss: emulator.app.clientId, iat: seconds(), exp: seconds() + 60 })
    expect((await get('/repos/acme/shop', { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await get('/app', as('olivia'))).status).toBe(401)
  })
})

describe('visibility', () => {
  test.each([
    ['an owner', 'olivia', 200],
    ['a member of a team with access', 'dave', 200],
    ['a member without', 'mia', 404],
    ['an owner of another organization', 'gary', 404],
    ['a member of nothing', 'noah', 404],
  ])('%s asks for a private repository: %i', async (_who, login, status) => {
    expect((await get('/repos/acme/shop', as(login))).status).toBe(status)
  })

  test("a user token of the App shows the user's membership only where the App may read members", async () => {
    const olivia = await signIn(emulator, 'olivia')
    const { access_token } = await exchange(emulator, olivia)
    const client = clients.by(access_token)
    expect((await refusal(client.request('GET /user/memberships/orgs/{org}', { org: 'acme' }))).status).toBe(403)
    expect((await refusal(client.request('GET /user/memberships/orgs/{org}', { org: 'globex' }))).status).toBe(404)
    await install(emulator, olivia, 2001, { repositoryIds: [4001] })
    expect((await client.request('GET /user/memberships/orgs/{org}', { org: 'acme' })).data.role).toBe('admin')
  })

  test('an installation is listed for a mere member, which proves no authority; the membership shows it', async () => {
    const mia = await signIn(emulator, 'mia')
    const client = clients.by((await exchange(emulator, mia)).access_token)
    const { data } = await client.request('GET /user/installations')
    expect(data.total_count).toBe(1)
    expect((await client.request('GET /user/memberships/orgs/{org}', { org: 'acme' })).data).toMatchObject({
      role: 'member',
      state: 'active',
    })
    const [installation] = data.installations
    const seen = await client.request('GET /user/installations/{installation_id}/repositories', {
      installation_id: installation?.id ?? 0,
    })
    expect(seen.data.total_count).toBe(0)
    const noah = clients.by((await exchange(emulator, await signIn(emulator, 'noah'))).access_token)
    expect((await noah.request('GET /user/installations')).data.total_count).toBe(0)
  })

  test('a user token of the App has no more access than the user and the installation', async () => {
    const dave = clients.by((await exchange(emulator, await signIn(emulator, 'dave'))).access_token)
    expect((await dave.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'shop' })).status).toBe(200)
    const olivia = clients.by((await exchange(emulator, await signIn(emulator, 'olivia'))).access_token)
    expect((await refusal(olivia.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'secret-plans' }))).status).toBe(404)
  })
})

describe('the protocol', () => {
  test('every response has its request id, its version and the state of the rate limit', async () => {
    const { headers } = await get('/orgs/acme', as('olivia'))
    expect(headers.get('x-github-request-id')).toMatch(/^[0-9A-F-]{36}$/)
    expect(headers.get('x-github-api-version-selected')).toBe('2022-11-28')
    expect(headers.get('x-ratelimit-limit')).toBe('5000')
    expect(Number(headers.get('x-ratelimit-remaining')) + Number(headers.get('x-ratelimit-used'))).toBe(5000)
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000)
  })

  test('a route names the permission that it needs', async () => {
    const { headers } = await get('/orgs/acme/members', as('olivia'))
    expect(headers.get('x-accepted-github-permissions')).toBe('members=read')
  })

  test('a request without a User-Agent is refused', async () => {
    const { statusCode } = await request(`${emulator.apiUrl}/orgs/acme`, { headers: as('olivia') })
    expect(statusCode).toBe(403)
  })

  test('an unknown API version is refused', async () => {
    expect((await get('/orgs/acme', { ...as('olivia'), 'x-github-api-version': '1999-01-01' })).status).toBe(400)
    const newer = await get('/orgs/acme', { ...as('olivia'), 'x-github-api-version': '2026-03-10' })
    expect(newer.headers.get('x-github-api-version-selected')).toBe('2026-03-10')
  })

  test('an unchanged resource is 304 and costs nothing', async () => {
    const first = await get('/orgs/acme', as('gary'))
    const again = await get('/orgs/acme', { ...as('gary'), 'if-none-match': first.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('x-ratelimit-remaining')).toBe(first.headers.get('x-ratelimit-remaining'))
  })

  test('pages are linked, and Octokit follows the links', async () => {
    const client = clients.by(emulator.personalTokens['olivia'] ?? '')
    const page = await client.request('GET /orgs/{org}/members', { org: 'acme', per_page: 1, page: 2 })
    expect(page.headers.link).toMatch(/rel="prev".*rel="next".*rel="last".*rel="first"/)
    const all = await client.paginate('GET /orgs/{org}/members', { org: 'acme', per_page: 1 })
    expect(all.map(one => one.login)).toEqual(['olivia', 'dave', 'mia'])
  })

  test('a body that is not a JSON object is refused with 400', async () => {
    const options = { method: 'POST', headers: as('dave') }
    const broken = await fetch(`${emulator.apiUrl}/repos/acme/shop/pulls`, { ...options, body: '{' })
    expect([broken.status, ((await broken.json()) as { message: string }).message]).toEqual([400, 'Problems parsing JSON'])
    expect((await fetch(`${emulator.apiUrl}/repos/acme/shop/pulls`, { ...options, body: '[]' })).status).toBe(400)
    const missing = await fetch(`${emulator.apiUrl}/repos/acme/shop/pulls`, { ...options, body: '{}' })
    expect(await missing.json()).toMatchObject({ errors: [{ field: 'title', code: 'missing_field' }] })
  })

  test('an unknown path is a JSON 404, an armed fault a 500 with its headers', async () => {
    expect(await (await get('/nothing', as('dave'))).json()).toMatchObject({ message: 'Not Found', status: '404' })
    emulator.context.faults.arm(
      { kind: 'rest-status', method: 'GET', path: '/user', status: 503, headers: { 'retry-after': '7' } },
      1,
    )
    const broken = await get('/user', as('dave'))
    expect([broken.status, broken.headers.get('retry-after')]).toEqual([503, '7'])
    expect((await get('/user', as('dave'))).status).toBe(200)
  })

  test('an enforced rate limit refuses requests above the limit', async () => {
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await get('/orgs/acme')).status)
    expect(statuses).toEqual([200, 200, 200, 403])
  })
})

describe('the control API', () => {
  test('needs its own token', async () => {
    const list = async (token: string) =>
      (await fetch(`${emulator.url}/_emulator/faults`, { headers: { authorization: `Bearer ${token}` } })).status
    expect(await list(emulator.personalTokens['olivia'] ?? '')).toBe(401)
    expect(await list('')).toBe(401)
    expect(await list(emulator.controlToken)).toBe(200)
  })

  test('arms and disarms faults, and names a wrong field', async () => {
    const headers = { authorization: `Bearer ${emulator.controlToken}`, 'content-type': 'application/json' }
    const arm = (body: unknown) =>
      fetch(`${emulator.url}/_emulator/faults`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(await (await arm({ kind: 'rest-status', path: '/x', status: 200 })).json()).toMatchObject({
      errors: [{ field: 'status' }],
    })
    expect((await arm({ kind: 'explode' })).status).toBe(422)
    const { id } = (await (await arm({ kind: 'rest-status', path: '/user', status: 500, times: 5 })).json()) as { id: number }
    expect((await get('/user', as('dave'))).status).toBe(500)
    expect(
      (
        await fetch(`${emulator.url}/_emulator/faults/${id}`, {
          method: 'DELETE',
          headers: { authorization: headers.authorization },
        })
      ).status,
    ).toBe(204)
    expect((await get('/user', as('dave'))).status).toBe(200)
  })
})
