// What every answer of the API has in common: addresses, conditional requests, media types, scopes, pages.
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RunningEmulator, startEmulator } from '../../emulator.ts'
import { cloneUrl, createGitClient } from '../../testing/git-client.ts'
import { exchange } from '../../testing/oauth.ts'
import { signIn } from '../../testing/people.ts'

/** git and the validation take their time on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator

beforeAll(async () => {
  emulator = await startEmulator({ app: { callbackUrls: ['http://127.0.0.1:9/callback'] } })
})
afterAll(() => emulator.stop())

const as = (login: string) => ({ authorization: `Bearer ${emulator.personalTokens[login]}` })
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${emulator.apiUrl}${path}`, { headers: { ...as('dave'), ...headers } })

describe('conditional requests', () => {
  test('JSON has a weak tag; the same in strong form, in a list and as a star is the same', async () => {
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
    const repository = emulator.context.world.repositories.find(one => one.id === 4001)
    if (!repository) throw new Error('no seed')
    repository.description = 'Another'
    expect((await get('/repos/acme/shop', { 'if-none-match': etag })).status).toBe(200)
  })

  test('what says when it changed can be asked by that time', async () => {
    const first = await get('/repos/acme/shop')
    const at = first.headers.get('last-modified') ?? ''
    expect(Date.parse(at)).toBe(Date.parse(((await first.json()) as { updated_at: string }).updated_at))
    expect((await get('/repos/acme/shop', { 'if-modified-since': at })).status).toBe(304)
    const earlier = new Date(Date.parse(at) - 1000).toUTCString()
    expect((await get('/repos/acme/shop', { 'if-modified-since': earlier })).status).toBe(200)
    // RFC 9110 §13.1.3: If-None-Match goes before it.
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

describe('media types', () => {
  test.each([
    ['application/vnd.github+json', 200, 'github.v3; format=json'],
    ['application/vnd.github.v3+json', 200, 'github.v3; format=json'],
    ['application/vnd.github.machine-man-preview+json', 200, 'github.v3; format=json'],
    ['application/vnd.github.v3.diff', 200, 'github.v3; param=diff'],
    ['*/*', 200, 'github.v3; format=json'],
    ['text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 200, 'github.v3; format=json'],
    ['image/png', 415, 'github.v3; format=json'],
  ])('%s: %i, %s', async (accept, status, media) => {
    const answer = await get('/orgs/acme', { accept })
    expect([answer.status, answer.headers.get('x-github-media-type')]).toEqual([status, media])
  })
})

describe('other forms than JSON', () => {
  const form = (path: string, name: string, headers: Record<string, string> = {}) =>
    get(path, { accept: `application/vnd.github.${name}`, ...headers })
  const text = async (path: string, name: string): Promise<string> => {
    const answer = await form(path, name)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `application/vnd.github.${name}; charset=utf-8`])
    return answer.text()
  }
  const shop = '/repos/acme/shop'
  let base: string
  let head: string
  let pull: number

  beforeAll(async () => {
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
    base = (await git.run('rev-parse', 'HEAD')).stdout.trim()
    await git.run('checkout', '-b', 'forms')
    await git.commit('one.txt', '1\n', 'One')
    head = await git.commit('two.txt', '2\n', 'Two')
    await git.run('push', 'origin', 'HEAD')
    await git.remove()
    const body = JSON.stringify({ title: 'Forms', head: 'forms', base: 'main' })
    const opened = await fetch(`${emulator.apiUrl}${shop}/pulls`, { method: 'POST', headers: as('dave'), body })
    pull = ((await opened.json()) as { number: number }).number
  })

  test('a commit as diff, as patch, as its id', async () => {
    const diff = await text(`${shop}/commits/forms`, 'diff')
    expect(diff).toContain('diff --git a/two.txt b/two.txt')
    expect(diff).not.toContain('one.txt')
    const patch = await text(`${shop}/commits/forms`, 'patch')
    expect(patch.match(/^Subject: .*$/gm)).toEqual(['Subject: [PATCH] Two'])
    expect(await text(`${shop}/commits/forms`, 'sha')).toBe(head)
    expect(await text(`${shop}/commits/${base}`, 'diff')).toContain('b/README.md')
  })

  test('a comparison and a pull request: one diff, or a patch for each commit', async () => {
    for (const path of [`${shop}/compare/main...forms`, `${shop}/pulls/${pull}`]) {
      expect((await text(path, 'diff')).match(/^diff --git .*$/gm)).toEqual([
        'diff --git a/one.txt b/one.txt',
        'diff --git a/two.txt b/two.txt',
      ])
      expect((await text(path, 'patch')).match(/^Subject: .*$/gm)).toEqual([
        'Subject: [PATCH 1/2] One',
        'Subject: [PATCH 2/2] Two',
      ])
    }
  })

  test('a file raw, by path and by blob, with a strong tag', async () => {
    const whole = (await (await get(`${shop}/contents/two.txt?ref=forms`)).json()) as { sha: string }
    expect(await text(`${shop}/contents/two.txt?ref=forms`, 'raw')).toBe('2\n')
    expect(await text(`${shop}/git/blobs/${whole.sha}`, 'raw')).toBe('2\n')
    const etag = (await form(`${shop}/git/blobs/${whole.sha}`, 'raw')).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
    expect((await form(`${shop}/git/blobs/${whole.sha}`, 'raw', { 'if-none-match': etag })).status).toBe(304)
  })

  test('who may not see the repository does not see its diff', async () => {
    const answer = await form(`${shop}/commits/forms`, 'diff', as('noah'))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  })
})

describe('headers', () => {
  test('scopes are named for personal tokens only', async () => {
    expect((await get('/user')).headers.get('x-oauth-scopes')).toBe('read:org, repo')
    const { access_token } = await exchange(emulator, await signIn(emulator, 'dave'))
    const answer = await get('/user', { authorization: `Bearer ${access_token}` })
    expect([answer.status, answer.headers.get('x-oauth-scopes')]).toEqual([200, null])
  })

  test('a refused version is named, a chosen one is echoed, also by refusals', async () => {
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
  test('never more than 100, whatever is asked; the last page has no next', async () => {
    const { world } = emulator.context
    const acme = world.organizations.find(one => one.id === 2001)
    for (let id = 1; id <= 130; id += 1) {
      world.users.push({
        kind: 'user',
        id: 700_000 + id,
        login: `p${id}`,
        name: '',
        email: '',
        type: 'User',
        createdAt: '2026-01-01T00:00:00Z',
      })
      acme?.memberships.push({ userId: 700_000 + id, role: 'member', state: 'active', publicized: false })
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

  test("github.com's own shape: REST on a host of its own, beside /api/v3", async () => {
    const onHost = await at('api.github.localhost', '/repos/acme/shop')
    const onPath = await at('github.localhost', '/api/v3/repos/acme/shop')
    expect([onHost.status, onHost.text]).toEqual([200, onPath.text])
    expect((await at('api.github.localhost', '/login')).headers['content-type']).toMatch(/json/)
    expect((await at('github.localhost', '/login')).headers['content-type']).toMatch(/html/)
  })

  test('an emulator that is known by such a host links to it', async () => {
    const other = await startEmulator({ flavour: 'github.com', publicApiUrl: 'http://api.github.localhost' })
    const answer = await request(`${other.url}/orgs/acme/members?per_page=1`, {
      headers: { host: 'api.github.localhost', 'user-agent': 'test', authorization: `Bearer ${other.personalTokens['olivia']}` },
    })
    expect(answer.headers['link']).toContain('<http://api.github.localhost/orgs/acme/members?')
    expect(await answer.body.json()).toMatchObject([{ url: 'http://api.github.localhost/users/olivia' }])
    await other.stop()
  })

  test('the address of uploads answers as the API does; nothing can be uploaded', async () => {
    for (const [host, path] of [
      ['github.localhost', '/api/uploads/repos/acme/shop/releases/1/assets'],
      ['uploads.github.localhost', '/repos/acme/shop/releases/1/assets'],
    ] as const) {
      const answer = await at(host, path)
      expect([answer.status, JSON.parse(answer.text).message]).toEqual([404, 'Not Found'])
      expect(answer.headers['x-github-request-id']).toBeDefined()
    }
  })
})
