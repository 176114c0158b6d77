// The rate limits, enabled with small numbers, as Octokit's throttling plugin handles them.
import { Octokit } from '@octokit/core'
import { throttling } from '@octokit/plugin-throttling'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { createRepository } from '../../actions/create-repository.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { install, signIn } from '../../testing/people.ts'
import { createRestClients } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import type { RateLimitSettings } from '../context.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
afterEach(() => emulator.stop())

async function start(rateLimit: Partial<RateLimitSettings>): Promise<void> {
  emulator = await startStockedEmulator({
    app: { setupUrl: 'http://127.0.0.1:9/setup' },
    rateLimit: { authenticated: 5000, anonymous: 60, enforced: true, ...rateLimit },
  })
}

function as(login: string) {
  return { authorization: `Bearer ${emulator.personalTokens[login]}` }
}

function get(path: string, headers: Record<string, string> = as('dave')) {
  return fetch(`${emulator.apiUrl}${path}`, { headers })
}

function post(path: string, body: unknown) {
  return fetch(`${emulator.apiUrl}${path}`, { method: 'POST', headers: as('dave'), body: JSON.stringify(body) })
}

async function installed(): Promise<number> {
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  return Number(new URL(end.url).searchParams.get('installation_id'))
}

function newRepository(name: string) {
  return { name, description: null, private: true, withReadme: false }
}

const member = { role: 'member', state: 'active' } as const

/** A client with the real plugin that records its callbacks and does not retry. */
function throttled() {
  const reported: [string, number][] = []
  const Client = Octokit.plugin(throttling)
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const client = new Client({
    baseUrl: emulator.apiUrl,
    auth: emulator.personalTokens['dave'],
    log: silent,
    throttle: {
      onRateLimit: retryAfter => {
        reported.push(['primary', retryAfter])
        return false
      },
      onSecondaryRateLimit: retryAfter => {
        reported.push(['secondary', retryAfter])
        return false
      },
    },
  })
  return { client, reported }
}

function status(attempt: Promise<{ status: number }>): Promise<number> {
  return attempt.then(
    answer => answer.status,
    (error: { status: number }) => error.status,
  )
}

describe('the primary limit', () => {
  test.each([403, 429] as const)(
    'beyond it everything is refused with %i, and the plugin knows until when',
    async refusedWith => {
      await start({ authenticated: 2, status: refusedWith })
      const { client, reported } = throttled()
      const found = []
      for (let count = 0; count < 3; count += 1) found.push(await status(client.request('GET /user')))
      expect(found).toEqual([200, 200, refusedWith])
      expect(reported).toEqual([['primary', expect.any(Number)]])
      expect(reported[0]?.[1]).toBeGreaterThan(3590)
      const refused = await get('/user')
      expect(refused.headers.get('retry-after')).toBeNull()
      expect(((await refused.json()) as { message: string }).message).toBe('API rate limit exceeded for user ID 1002.')
      const { resources } = (await (await get('/rate_limit')).json()) as { resources: { core: { remaining: number } } }
      expect(resources.core.remaining).toBe(0)
    },
  )

  test('has retry-after when configured, does not affect other callers, and ends after an hour', async () => {
    await start({ authenticated: 1, retryAfter: true })
    await get('/user')
    const refused = await get('/user')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3590)
    expect((await get('/user', as('olivia'))).status).toBe(200)
    emulator.context.faults.arm({ kind: 'clock-skew', seconds: 3601 })
    expect((await get('/user')).status).toBe(200)
  })

  test('each kind of caller has its own bucket: address, user, App, installation', async () => {
    await start({ anonymous: 1, authenticated: 3 })
    const clients = createRestClients(emulator)
    const installationId = await installed()
    const [one, other] = [await clients.mint(installationId), await clients.mint(installationId)]
    const ask = (token: string) => get('/installation/repositories', { authorization: `token ${token}` })
    const remaining = async (answer: Promise<Response>): Promise<string | null> =>
      (await answer).headers.get('x-ratelimit-remaining')
    // Two tokens of one installation share one bucket.
    expect([await remaining(ask(one)), await remaining(ask(other)), await remaining(ask(one))]).toEqual(['2', '1', '0'])
    const refused = await ask(other)
    expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
      403,
      `API rate limit exceeded for installation ID ${installationId}.`,
    ])
    expect((await get('/meta', {})).status).toBe(200)
    expect((await get('/meta', {})).status).toBe(403)
    expect((await clients.app.request('GET /app')).headers['x-ratelimit-used']).toBe('3')
    expect(await remaining(get('/user'))).toBe('2')
  })

  test('304 responses are free, except for callers without credentials', async () => {
    await start({ anonymous: 2, authenticated: 2 })
    const ask = async (headers: Record<string, string>) => {
      const etag = (await get('/orgs/acme', headers)).headers.get('etag') ?? ''
      const again = []
      for (let count = 0; count < 3; count += 1)
        again.push((await get('/orgs/acme', { ...headers, 'if-none-match': etag })).status)
      return again
    }
    expect(await ask(as('dave'))).toEqual([304, 304, 304])
    expect(await ask({})).toEqual([304, 403, 403])
  })

  test('that of an installation grows by 50 for each repository and each person beyond 20, to 12,500', async () => {
    await start({})
    const clients = createRestClients(emulator)
    const installationId = await installed()
    const limit = async () =>
      (await clients.by(await clients.mint(installationId)).request('GET /rate_limit')).data.resources.core.limit
    expect(await limit()).toBe(5000)
    const { context } = emulator
    const olivia = context.state.users.find(one => one.id === 1001)
    const acme = context.state.organizations.find(one => one.id === 2001)
    if (!olivia || !acme) throw new Error('no seed')
    for (let count = 0; count < 22; count += 1) await createRepository(context, acme, olivia, newRepository(`r${count}`))
    expect(await limit()).toBe(5000 + 50 * 4)
    for (let id = 1; id <= 30; id += 1) acme.memberships.push({ ...member, userId: 900_000 + id })
    expect(await limit()).toBe(5000 + 50 * 4 + 50 * 13)
    for (let id = 1; id <= 300; id += 1) acme.memberships.push({ ...member, userId: 910_000 + id })
    expect(await limit()).toBe(12_500)
  })
})

describe('the secondary limits', () => {
  test.each([
    [403, true],
    [429, false],
  ] as const)(
    'points: reading costs 1, writing 5, per endpoint and minute; answered %i, retry-after %s',
    async (refusedWith, retryAfter) => {
      await start({ secondary: { points: 3, status: refusedWith, retryAfter } })
      const { client, reported } = throttled()
      const found = []
      for (let count = 0; count < 4; count += 1) found.push(await status(client.request('GET /user')))
      expect(found).toEqual([200, 200, 200, refusedWith])
      // Without the header the plugin waits its default of a minute.
      expect(reported).toEqual([['secondary', expect.any(Number)]])
      expect(reported[0]?.[1]).toBeGreaterThan(50)
      expect((await get('/user')).headers.get('retry-after') === null).toBe(!retryAfter)
      expect((await get('/orgs/acme')).status).toBe(200)
      expect((await post('/user/repos', { name: 'too-dear' })).status).toBe(refusedWith)
      emulator.context.faults.arm({ kind: 'clock-skew', seconds: 61 })
      expect((await get('/user')).status).toBe(200)
    },
  )

  test('content: limits writes per minute of any kind; reading and minting continue', async () => {
    await start({ secondary: { contentPerMinute: 2 } })
    const found = []
    for (const name of ['a', 'b', 'c']) found.push((await post('/user/repos', { name })).status)
    expect(found).toEqual([201, 201, 403])
    expect((await get('/user')).status).toBe(200)
    const clients = createRestClients(emulator)
    const installationId = await installed()
    for (let count = 0; count < 3; count += 1) expect(await clients.mint(installationId)).toMatch(/^ghs_/)
  })

  test('content: also limits writes per hour', async () => {
    await start({ secondary: { contentPerMinute: 1, contentPerHour: 2 } })
    const found = []
    for (const name of ['a', 'b', 'c']) {
      found.push((await post('/user/repos', { name })).status)
      emulator.context.faults.arm({ kind: 'clock-skew', seconds: 61 })
    }
    expect(found).toEqual([201, 201, 403])
  })

  test('concurrency: counts requests in progress only', async () => {
    await start({ secondary: { concurrent: 3 } })
    const held = emulator.context.faults.arm({ kind: 'slow-answer', path: '/orgs/acme', when: 'after', milliseconds: 3000 }, 3)
    const slow = [1, 2, 3].map(() => get('/orgs/acme'))
    await waitUntil('the fault to be used up', () => !emulator.context.faults.list().some(one => one.id === held))
    await waitUntil('a refusal of the fourth request', async seen => seen((await get('/user')).status) === 403, {
      everyMilliseconds: 5,
    })
    expect((await Promise.all(slow)).map(one => one.status)).toEqual([200, 200, 200])
    await waitUntil('room for another request', async seen => seen((await get('/user')).status) === 200)
  })
})
