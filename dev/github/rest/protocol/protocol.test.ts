// What all responses of the API have in common: URLs, conditional requests, scopes, pages.
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RunningEmulator } from '../../emulator.ts'
import { exchange } from '../../testing/oauth.ts'
import { signIn } from '../../testing/people.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator

beforeAll(async () => {
  emulator = await startStockedEmulator({ app: { callbackUrls: ['http://127.0.0.1:9/callback'] } })
})
afterAll(() => emulator.stop())

function as(login: string) {
  return { authorization: `Bearer ${emulator.personalTokens[login]}` }
}

function get(path: string, headers: Record<string, string> = {}) {
  return fetch(`${emulator.apiUrl}${path}`, { headers: { ...as('dave'), ...headers } })
}

describe('conditional requests', () => {
  test('JSON has a weak tag, which also matches in strong form, in a list and as a star', async () => {
    const first = await get('/orgs/acme')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[0-9a-f]{64}"$/)
    const ask = async (tag: string) => (await get('/orgs/acme', { 'if-none-match': tag })).status
    expect(await Promise.all([etag, etag.slice(2), `"x", ${etag}`, '*', '"x"'].map(ask))).toEqual([304, 304, 304, 304, 200])
  })

  test('a 304 has no body, keeps the tag and names the request', async () => {
    const etag = (await get('/orgs/acme')).headers.get('etag') ?? ''
    const again = await get('/orgs/acme', { 'if-none-match': etag })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    expect(again.headers.get('x-github-request-id')).not.toBeNull()
  })

  test('a change gives another tag', async () => {
    const etag = (await get('/repos/acme/shop')).headers.get('etag') ?? ''
    const repository = emulator.context.state.repositories.find(one => one.id === 4001)
    if (!repository) throw new Error('no seed')
    repository.description = 'Another'
    expect((await get('/repos/acme/shop', { 'if-none-match': etag })).status).toBe(200)
  })

  test('a response with Last-Modified supports If-Modified-Since', async () => {
    const first = await get('/repos/acme/shop')
    const at = first.headers.get('last-modified') ?? ''
    expect(Date.parse(at)).toBe(Date.parse(((await first.json()) as { updated_at: string }).updated_at))
    expect((await get('/repos/acme/shop', { 'if-modified-since': at })).status).toBe(304)
    const earlier = new Date(Date.parse(at) - 1000).toUTCString()
    expect((await get('/repos/acme/shop', { 'if-modified-since': earlier })).status).toBe(200)
    // RFC 9110 §13.1.3: If-None-Match takes precedence.
    expect((await get('/repos/acme/shop', { 'if-modified-since': at, 'if-none-match': '"x"' })).status).toBe(200)
  })

  test('writing is never conditional', async () => {
    const answer = await fetch(`${emulator.apiUrl}/user/repos`, {
      method: 'POST',
      headers: { ...as('dave'), 'if-none-match': '*' },
      body: JSON.stringify({ name: 'made' }),
    })
    expect([answer.status, answer.headers.get('etag')]).toEqual([201, null])
  })
})

describe('headers', () => {
  test('scopes are shown for personal tokens only', async () => {
    expect((await get('/user')).headers.get('x-oauth-scopes')).toBe('read:org, repo')
    const { access_token } = await exchange(emulator, await signIn(emulator, 'dave'))
    const answer = await get('/user', { authorization: `Bearer ${access_token}` })
    expect([answer.status, answer.headers.get('x-oauth-scopes')]).toEqual([200, null])
  })

  test('a refused version is named, a selected one is repeated, also in refusals', async () => {
    const refused = await get('/user', { 'x-github-api-version': '2021-01-01' })
    expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
      400,
      expect.stringContaining('2021-01-01'),
    ])
    const missing = await get('/repos/acme/none', { 'x-github-api-version': '2026-03-10' })
    expect([missing.status, missing.headers.get('x-github-api-version-selected')]).toEqual([404, '2026-03-10'])
  })
})

describe('pages', () => {
  test('have at most 100 entries; the last page has no next link', async () => {
    const { state } = emulator.context
    const acme = state.organizations.find(one => one.id === 2001)
    for (let id = 1; id <= 130; id += 1) {
      state.users.push({
        kind: 'user',
        id: 700_000 + id,
        login: `p${id}`,
        name: '',
        email: '',
        type: 'User',
        createdAt: '2026-01-01T00:00:00Z',
      })
      acme?.memberships.push({ userId: 700_000 + id, role: 'member', state: 'active' })
    }
    const page = async (query: string) => {
      const answer = await get(`/orgs/acme/members${query}`)
      return [
        ((await answer.json()) as unknown[]).length,
        [...(answer.headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)].map(one => one[1]),
      ]
    }
    expect(await page('?per_page=1000')).toEqual([100, ['next', 'last']])
    expect(await page('?per_page=100&page=2')).toEqual([33, ['prev', 'first']])
    expect(await page('')).toEqual([30, ['next', 'last']])
    expect(await page('?per_page=100&page=9')).toEqual([0, ['prev', 'first']])
    expect(await page('?per_page=x&page=-1')).toEqual([30, ['next', 'last']])
  })
})

describe('addresses', () => {
  const at = async (host: string, path: string) => {
    const answer = await request(`${emulator.url}${path}`, {
      headers: { host, 'user-agent': 'test', ...as('dave') },
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

  test('the form of github.com: REST on its own host, beside /api/v3', async () => {
    const onHost = await at('api.github.localhost', '/repos/acme/shop')
    const onPath = await at('github.localhost', '/api/v3/repos/acme/shop')
    expect([onHost.status, onHost.text]).toEqual([200, onPath.text])
    expect((await at('api.github.localhost', '/login')).headers['content-type']).toMatch(/json/)
    expect((await at('github.localhost', '/login')).headers['content-type']).toMatch(/html/)
  })

  test('an emulator with such a public URL uses it in links', async () => {
    const other = await startStockedEmulator({ flavour: 'github.com', publicApiUrl: 'http://api.github.localhost' })
    const answer = await request(`${other.url}/orgs/acme/members?per_page=1`, {
      headers: { host: 'api.github.localhost', 'user-agent': 'test', authorization: `Bearer ${other.personalTokens['olivia']}` },
    })
    expect(answer.headers['link']).toContain('<http://api.github.localhost/orgs/acme/members?')
    expect(await answer.body.json()).toMatchObject([{ url: 'http://api.github.localhost/users/olivia' }])
    await other.stop()
  })
})
