// Every fault of requests, armed through the control API and observed over HTTP.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { defined } from '../../../src/lib/json/defined.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { setSuspended } from '../actions/install-app.ts'
import type { RunningEmulator } from '../emulator.ts'
import { installationById } from '../state/github-state.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let clients: RestClients
let installationId: number

beforeAll(async () => {
  emulator = await startStockedEmulator({
    app: { webhookUrl: 'http://127.0.0.1:9/hook', setupUrl: 'http://127.0.0.1:9/setup' },
  })
  clients = createRestClients(emulator)
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  installationId = Number(new URL(end.url).searchParams.get('installation_id'))
})
afterEach(async () => {
  expect((await control('DELETE', '/faults')).status).toBe(204)
})
afterAll(() => emulator.stop())

function control(method: string, path: string, body?: unknown) {
  return fetch(`${emulator.url}/_emulator${path}`, {
    method,
    headers: {
      authorization: `Bearer ${emulator.controlToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function arm(fault: Readonly<Record<string, unknown>>): Promise<number> {
  const answer = await control('POST', '/faults', fault)
  const { id } = (await answer.json()) as { id: number }
  expect(answer.status, JSON.stringify(fault)).toBe(200)
  return id
}

async function armed() {
  return ((await (await control('GET', '/faults')).json()) as { faults: { used: number; remaining: number | null }[] }).faults
}

function as(login: string) {
  return { authorization: `Bearer ${emulator.personalTokens[login]}` }
}

function get(path: string, headers: Record<string, string> = as('dave')) {
  return fetch(`${emulator.apiUrl}${path}`, { headers })
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const found = []
  for (let at = 0; at < count; at += 1) found.push((await ask()).status)
  return found
}

/** The code of the network error that ends a request. */
async function networkError(attempt: Promise<Response>): Promise<string> {
  try {
    await (await attempt).text()
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  }
  return 'answered'
}

describe('arming', () => {
  test('is for one use unless more are requested, and the list counts them', async () => {
    await arm({ kind: 'rest-status', path: '/user', status: 502, times: 2 })
    expect(await statuses(1, () => get('/user'))).toEqual([502])
    expect(await armed()).toMatchObject([{ used: 1, remaining: 1 }])
    expect(await statuses(2, () => get('/user'))).toEqual([502, 200])
    expect(await armed()).toEqual([])
  })

  test('with a time is for any number of uses until then', async () => {
    const id = await arm({ kind: 'rest-status', path: '/user', status: 500, for: 3 })
    const started = performance.now()
    expect(await statuses(3, () => get('/user'))).toEqual([500, 500, 500])
    await waitUntil('the end of the fault', async seen => seen((await get('/user')).status) === 200)
    expect(performance.now() - started).toBeGreaterThan(2900)
    expect((await control('DELETE', `/faults/${id}`)).status).toBe(404)
  })

  test('matches method and path; a star stands for one segment', async () => {
    await arm({ kind: 'rest-status', method: 'POST', path: '/app/installations/*/access_tokens', status: 500 })
    expect((await get('/app/installations/1', {})).status).toBe(401)
    expect((await refusal(clients.mint(installationId))).status).toBe(500)
    expect(await clients.mint(installationId)).toMatch(/^ghs_/)
  })

  test.each([
    [{ kind: 'reset', path: '/user' }, 'when'],
    [{ kind: 'slow-body', bytesPerSecond: 0 }, 'bytesPerSecond'],
    [{ kind: 'rate-limited', limit: 'secondary', status: 500 }, 'status'],
    [{ kind: 'wider-token', surprise: 1 }, 'surprise'],
    [{ kind: 'wider-token', times: 10_001 }, 'times'],
    [{ kind: 'toString' }, 'kind'],
  ])('%o is refused by its field %s', async (fault, field) => {
    const answer = await control('POST', '/faults', fault)
    expect([answer.status, ((await answer.json()) as { errors: { field: string }[] }).errors[0]?.field]).toEqual([422, field])
  })

  test('is limited to a hundred; faults do not apply to the control API', async () => {
    for (let count = 0; count < 100; count += 1) await arm({ kind: 'web-status', status: 500, times: 10 })
    expect((await control('POST', '/faults', { kind: 'wider-token' })).status).toBe(422)
    await control('DELETE', '/faults')
    await arm({ kind: 'reset', when: 'before', times: 10 })
    expect((await control('GET', '/faults')).status).toBe(200)
  })
})

describe('refusing responses', () => {
  test('a status with headers and a message', async () => {
    await arm({ kind: 'rest-status', path: '/user', status: 503, headers: { 'Retry-After': '7' }, message: 'Maintenance' })
    const answer = await get('/user')
    expect([answer.status, answer.headers.get('retry-after'), ((await answer.json()) as { message: string }).message]).toEqual([
      503,
      '7',
      'Maintenance',
    ])
    expect(answer.headers.get('x-github-request-id')).not.toBeNull()
  })

  test.each([
    ['secondary', 403, undefined, /secondary rate limit/],
    ['secondary', 429, 3, /secondary rate limit/],
    ['primary', 403, undefined, /API rate limit exceeded/],
    ['primary', 429, 11, /API rate limit exceeded/],
  ])('the %s limit as %i with retry-after %s', async (limit, status, retryAfter, message) => {
    await arm({ kind: 'rate-limited', path: '/user', limit, status, ...defined({ retryAfter }) })
    const answer = await get('/user')
    const body = (await answer.json()) as { message: string; documentation_url: string }
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe(retryAfter === undefined ? null : String(retryAfter))
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(limit === 'primary' ? '0' : null)
    expect(body.message).toMatch(message)
    expect(body.documentation_url).toContain('rate-limits')
    expect((await get('/user')).status).toBe(200)
  })

  test('pages and OAuth respond with a page, REST is not affected', async () => {
    await arm({ kind: 'web-status', path: '/login/oauth/access_token', method: 'POST', status: 502 })
    expect((await get('/user')).status).toBe(200)
    expect((await fetch(`${emulator.url}/login`)).status).toBe(200)
    const ask = () =>
      fetch(`${emulator.url}/login/oauth/access_token`, { method: 'POST', headers: { accept: 'application/json' } })
    const answer = await ask()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8'])
    expect((await ask()).status).toBe(404)
  })
})

describe('the connection', () => {
  test('a reset before the request has no effect, a reset after it comes after the effect', async () => {
    const make = (name: string) =>
      fetch(`${emulator.apiUrl}/user/repos`, { method: 'POST', headers: as('dave'), body: JSON.stringify({ name }) })
    await arm({ kind: 'reset', method: 'POST', path: '/user/repos', when: 'before' })
    expect(await networkError(make('before'))).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
    expect((await get('/repos/dave/before')).status).toBe(404)
    await arm({ kind: 'reset', method: 'POST', path: '/user/repos', when: 'after' })
    expect(await networkError(make('after'))).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
    expect((await get('/repos/dave/after')).status).toBe(200)
  })

  test('a reset during sends the headers and some bytes first', async () => {
    await arm({ kind: 'reset', path: '/orgs/acme', when: 'during', bytes: 10 })
    const answer = await get('/orgs/acme')
    expect(answer.status).toBe(200)
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.value?.byteLength).toBe(10)
    expect(await networkError(Promise.resolve(reader?.read()).then(() => new Response()))).toMatch(
      /ECONNRESET|UND_ERR_SOCKET|terminated/,
    )
  })

  test('a slow body arrives complete, at its speed', async () => {
    const whole = await (await get('/orgs/acme')).text()
    await arm({ kind: 'slow-body', path: '/orgs/acme', bytesPerSecond: Math.ceil(whole.length / 0.6) })
    const answer = await get('/orgs/acme')
    const headAt = performance.now()
    expect(await answer.text()).toBe(whole)
    expect(performance.now() - headAt).toBeGreaterThan(400)
  })

  test.each(['before', 'after'])('a slow response is delayed %s the request is handled', async when => {
    const milliseconds = 1500
    await arm({ kind: 'slow-answer', path: '/user/repos', method: 'POST', milliseconds, when })
    const name = `slow-${when}`
    const started = performance.now()
    let answered = false
    const making = fetch(`${emulator.apiUrl}/user/repos`, {
      method: 'POST',
      headers: as('dave'),
      body: JSON.stringify({ name }),
    }).finally(() => {
      answered = true
    })
    await waitUntil('the repository', async seen => seen((await get(`/repos/dave/${name}`)).status) === 200)
    if (when === 'before') expect(performance.now() - started).toBeGreaterThan(milliseconds - 10)
    else expect(answered).toBe(false)
    expect((await making).status).toBe(201)
    expect(performance.now() - started).toBeGreaterThan(milliseconds - 10)
  })
})

describe('the clock', () => {
  /** An offset in seconds that no slow answer can be mistaken for. */
  const isAbout = (seconds: number, wanted: number): boolean => Math.abs(seconds - wanted) < 40

  test.each([90, -90, 600, -600])('is wrong by %i seconds until disarmed: Date, App JWT, expiry', async seconds => {
    const id = await arm({ kind: 'clock-skew', seconds, times: 1 })
    const wrong = async () => (Date.parse((await get('/user')).headers.get('date') ?? '') - Date.now()) / 1000
    expect(isAbout(await wrong(), seconds)).toBe(true)
    expect(isAbout(await wrong(), seconds)).toBe(true)
    // A JWT issued now: valid from 60 s ago until 9 minutes ahead, without correction by the client.
    const { createAppAuth } = await import('@octokit/auth-app')
    const { token } = await createAppAuth({ appId: emulator.app.id, privateKey: emulator.app.privateKeyPem })({ type: 'app' })
    const answer = await get('/app', { authorization: `Bearer ${token}` })
    expect(answer.status).toBe(Math.abs(seconds) > 500 || seconds < -60 ? 401 : 200)
    // Octokit reads the Date header and corrects its clock.
    const { data } = await clients.app.request('POST /app/installations/{installation_id}/access_tokens', {
      installation_id: installationId,
    })
    expect(isAbout((Date.parse(data.expires_at) - Date.now()) / 1000, 3600 + seconds)).toBe(true)
    await control('DELETE', `/faults/${id}`)
    expect(isAbout(await wrong(), 0)).toBe(true)
  })

  test('a token that is valid only by the wrong clock has expired by the right one', async () => {
    await arm({ kind: 'clock-skew', seconds: -7200 })
    const token = await clients.mint(installationId)
    const ask = () => get('/installation/repositories', { authorization: `token ${token}` })
    expect((await ask()).status).toBe(200)
    await control('DELETE', '/faults')
    expect((await ask()).status).toBe(401)
  })
})

describe('tokens and installations', () => {
  const unsuspend = () => {
    const installation = installationById(emulator.context.state, installationId)
    if (!installation) throw new Error('no installation')
    setSuspended(emulator.context, installation, 1001, false)
  }
  const use = (token: string) => get('/installation/repositories', { authorization: `token ${token}` })

  test.each([401, 403])('a fresh token is refused with %i at first, then works', async status => {
    await arm({ kind: 'fresh-token-refused', status, uses: 2 })
    const token = await clients.mint(installationId)
    expect(await statuses(3, () => use(token))).toEqual([status, status, 200])
    expect(await statuses(1, async () => use(await clients.mint(installationId)))).toEqual([200])
  })

  test('a token wider than requested covers everything', async () => {
    await arm({ kind: 'wider-token' })
    const asked = { installation_id: installationId, repository_ids: [4001], permissions: { metadata: 'read' as const } }
    const wide = await clients.app.request('POST /app/installations/{installation_id}/access_tokens', asked)
    expect([wide.data.repository_selection, wide.data.permissions?.contents]).toEqual(['all', 'write'])
    const narrow = await clients.app.request('POST /app/installations/{installation_id}/access_tokens', asked)
    expect([narrow.data.repository_selection, narrow.data.permissions]).toEqual(['selected', { metadata: 'read' }])
  })

  test('a token revoked in between stays revoked; other tokens work', async () => {
    const [first, second] = [await clients.mint(installationId), await clients.mint(installationId)]
    await arm({ kind: 'token-revoked', path: '/installation' })
    expect(await statuses(2, () => use(first))).toEqual([401, 401])
    expect((await use(second)).status).toBe(200)
  })

  test('an installation suspended in between refuses minting and use, and sends a webhook', async () => {
    const token = await clients.mint(installationId)
    await arm({ kind: 'installation-suspended', path: '/app/installations/*/access_tokens' })
    expect((await use(token)).status).toBe(200)
    expect((await refusal(clients.mint(installationId))).status).toBe(403)
    expect((await use(token)).status).toBe(403)
    unsuspend()
    expect((await use(token)).status).toBe(200)
    await emulator.context.webhooks.idle()
    const { data } = await clients.app.request('GET /app/hook/deliveries', { per_page: 2 })
    expect(data.map(one => [one.event, one.action])).toEqual([
      ['installation', 'unsuspend'],
      ['installation', 'suspend'],
    ])
    await arm({ kind: 'installation-suspended', path: '/installation/repositories' })
    expect((await use(token)).status).toBe(403)
    unsuspend()
  })
})
