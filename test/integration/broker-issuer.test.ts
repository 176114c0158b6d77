// The issuer at the protocol level: device flow, races of refresh tokens, the content of a token; and the path from a push to a
// woken object.
import { createHmac, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { installation } from '../../src/api/github/installation.ts'
import { groups, wakeAnnotation } from '../../src/api/names.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'

let environment: BrokerEnvironment

type TokenAnswer = {
  readonly id_token?: string
  readonly refresh_token?: string
  readonly error?: string
  readonly error_description?: string
}
type DeviceAnswer = { readonly device_code: string; readonly user_code: string; readonly verification_uri_complete: string }

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

async function post<T>(path: string, fields: Record<string, string>): Promise<{ readonly status: number; readonly body: T }> {
  const answer = await environment.fetch(`${environment.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: answer.status, body: (await answer.json()) as T }
}

const startDevice = async (): Promise<DeviceAnswer> =>
  (await post<DeviceAnswer>('/oidc/device-authorization', { client_id: 'kubernetes', scope: 'openid offline_access' })).body
const poll = (device: DeviceAnswer) =>
  post<TokenAnswer>('/oidc/token', { grant_type: deviceGrant, client_id: 'kubernetes', device_code: device.device_code })
const refresh = (token: string | undefined) =>
  post<TokenAnswer>('/oidc/token', { grant_type: 'refresh_token', client_id: 'kubernetes', refresh_token: token ?? '' })

/** Types the code, confirms it, and consents. */
async function approveDevice(login: string, device: DeviceAnswer): Promise<void> {
  const { browser } = await environment.signIn(login)
  const entry = await browser.open(`${environment.url}/device`)
  const confirmation = await entry.form('Continue').submit({ user_code: device.user_code })
  expect(confirmation.text).toContain(device.user_code)
  const consent = await confirmation.form('It is my computer').submit()
  const done = await consent.form(`Continue as ${login}`).submit()
  expect(done.text).toContain('Your computer is signed in')
}

beforeAll(async () => {
  environment = await startBrokerEnvironment({
    seed: seed => {
      const organization = seed.organizations[0]?.login ?? ''
      const empty = { organization, members: [], repositories: {} }
      const parents = [
        { id: 3010, slug: 'engineering', name: 'Engineering', ...empty },
        { id: 3011, slug: 'platform', name: 'Platform', parent: 'engineering', ...empty },
        { id: 3012, slug: 'system-masters', name: 'system:masters', parent: 'platform', ...empty, members: ['dave'] },
      ]
      return { ...seed, teams: [...seed.teams, ...parents] }
    },
  })
  await bringOrganization(environment)
  await waitUntil('the Installation', () =>
    environment.kube.get(installation, { namespace: environment.organization.login, name: 'github' }),
  )
})
afterAll(() => environment?.stop())

describe('device flow', () => {
  test('a code that a signed-in person confirmed yields tokens; nested teams count, names do not', async () => {
    const device = await startDevice()
    expect((await poll(device)).body.error).toBe('authorization_pending')
    expect((await poll(device)).body.error).toBe('slow_down')
    await approveDevice('dave', device)
    const answer = await waitUntil(
      'the tokens',
      async () => {
        const { body } = await poll(device)
        return body.id_token === undefined ? undefined : body
      },
      { everyMilliseconds: 5000 },
    )
    const claims = decodeJwt(answer.id_token ?? '')
    const { id } = environment.organization
    const team = (teamId: number) => groups.team(environment.host, id, teamId)
    expect(claims['groups']).toEqual([groups.members(environment.host, id), team(3001), team(3010), team(3011), team(3012)])
    expect(JSON.stringify(claims)).not.toContain('system:')
    expect((await poll(device)).body.error).toBe('invalid_grant')
  })

  test('a person who is not signed in does not reach the page for the code', async () => {
    const answer = await environment.fetch(`${environment.url}/device`, { redirect: 'manual' })
    expect(answer.headers.get('location')).toContain('/login?return_to=')
  })

  test('a confirmation without the secret of the form does not approve anything', async () => {
    const device = await startDevice()
    const { browser } = await environment.signIn('dave')
    const cookies = () =>
      Object.entries(browser.cookies(environment.url))
        .map(pair => pair.join('='))
        .join('; ')
    const confirm = async () => {
      const body = new URLSearchParams({ user_code: device.user_code, confirm: 'yes', xsrf: 'guessed' })
      const headers = { cookie: cookies() }
      return environment.fetch(`${environment.url}/device`, { method: 'POST', headers, body, redirect: 'manual' })
    }
    expect((await confirm()).status).toBe(400)
    await browser.open(`${environment.url}/device`)
    expect((await confirm()).status).toBe(400)
    expect((await poll(device)).body.error).toBe('authorization_pending')
  })

  test('a refused code stays refused', async () => {
    const device = await startDevice()
    const { browser } = await environment.signIn('dave')
    const confirmation = await (await browser.open(`${environment.url}/device`))
      .form('Continue')
      .submit({ user_code: device.user_code })
    expect((await confirmation.form('Refuse').submit()).text).toContain('refused, as you asked')
    expect((await poll(device)).body.error).toBe('access_denied')
  })
})

describe('a person without any role', () => {
  test('gets no token by a device: the page and the program say why', async () => {
    const device = await startDevice()
    const { browser } = await environment.signIn('gary')
    const entry = await browser.open(`${environment.url}/device`)
    const confirmation = await entry.form('Continue').submit({ user_code: device.user_code })
    const refused = await confirmation.form('It is my computer').submit()
    expect(refused.text).toContain('no role in any tenant of this platform')
    expect((await poll(device)).body).toMatchObject({
      error: 'access_denied',
      error_description: expect.stringContaining('ask an owner'),
    })
  })
})

describe('refresh tokens', () => {
  const signedIn = async (login = 'dave'): Promise<string | undefined> => {
    const device = await startDevice()
    await approveDevice(login, device)
    return (await poll(device)).body.refresh_token
  }
  const ended = async (...tokens: readonly (string | undefined)[]): Promise<void> => {
    for (const token of tokens) expect((await refresh(token)).body.error).toBe('invalid_grant')
  }

  test('of two refreshes at once at most one gives a token that is good afterwards', async () => {
    const first = await signedIn()
    const both = await Promise.all([refresh(first), refresh(first)])
    const answers = both.map(({ status, body }) => (status === 200 ? 'ok' : body.error))
    expect(answers).toContain('ok')
    for (const answer of answers) expect(['ok', 'temporarily_unavailable']).toContain(answer)
    const given = both.flatMap(({ body }) => body.refresh_token ?? [])
    const used = []
    for (const token of given) used.push((await refresh(token)).status)
    expect(used.filter(status => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('an answer that was lost does not end the sign-in: the same token is sent again, and the successor before is worth nothing', async () => {
    const first = await signedIn()
    const lost = (await refresh(first)).body
    const again = (await refresh(first)).body
    expect(again.id_token).toBeDefined()
    expect(again.refresh_token).not.toBe(lost.refresh_token)
    const next = (await refresh(again.refresh_token)).body.refresh_token
    expect(next).toBeDefined()
    const events = await environment.store.audit.list({ action: 'refresh-token.replayed', limit: 1 })
    expect(events[0]).toMatchObject({ actor: environment.subjectOf('dave'), outcome: 'allowed' })
    // Whoever has the lost answer, which nobody should, ends the sign-in by using it.
    await ended(lost.refresh_token, next)
  })

  test('a thief who sends a token that its owner used is found out: at once when the successor was used, else at its next use', async () => {
    const stolen = await signedIn('olivia')
    const owner = (await refresh(stolen)).body.refresh_token
    const ofOwner = (await refresh(owner)).body.refresh_token
    await ended(stolen, ofOwner)
    expect((await environment.store.audit.list({ action: 'refresh-token.replayed', limit: 1 }))[0]).toMatchObject({
      outcome: 'denied',
    })

    const taken = await signedIn('olivia')
    const before = (await refresh(taken)).body.refresh_token
    const ofThief = (await refresh(taken)).body.refresh_token
    expect(ofThief).toBeDefined()
    await ended(before, ofThief)
  })

  test('a person who revoked the App on GitHub cannot refresh', async () => {
    const device = await startDevice()
    await approveDevice('mia', device)
    const { refresh_token } = (await poll(device)).body
    const body = JSON.stringify({ action: 'revoked', sender: { id: 1003, login: 'mia' } })
    const signature = `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'github_app_authorization',
      'x-hub-signature-256': signature,
    }
    const deliver = async (appId: number | undefined): Promise<unknown> => {
      const target = appId === undefined ? {} : { 'x-github-hook-installation-target-id': String(appId) }
      const named = { ...headers, ...target, 'x-github-delivery': randomBytes(16).toString('hex') }
      const answer = await environment.fetch(`${environment.url}/webhooks/github`, { method: 'POST', body, headers: named })
      return [answer.status, await answer.json()]
    }
    // Another App of the same person may have the same webhook secret: what is revoked there ends nothing here.
    for (const other of [undefined, environment.github.app.id + 1])
      expect(await deliver(other)).toEqual([202, { delivery: 'ignored' }])
    expect(await environment.store.users.find(environment.host, 1003)).toBeDefined()
    expect(await deliver(environment.github.app.id)).toEqual([202, { delivery: 'stored' }])
    await waitUntil(
      'the person is deleted from the store',
      async () => (await environment.store.users.find(environment.host, 1003)) === undefined,
    )
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant')
  })
})

describe('discovery', () => {
  test('every URL is under the public URL, whatever Host and X-Forwarded-* say', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    const document = (await (
      await environment.fetch(`${environment.url}/.well-known/openid-configuration`, { headers })
    ).json()) as Record<string, unknown>
    expect(document['issuer']).toBe(environment.url)
    for (const [name, value] of Object.entries(document))
      if (name.endsWith('_endpoint') || name === 'jwks_uri') expect(String(value).startsWith(`${environment.url}/`)).toBe(true)
    expect(document['code_challenge_methods_supported']).toEqual(['S256'])
    expect(document['id_token_signing_alg_values_supported']).toEqual(['ES256'])
  })

  test.each([
    ['without PKCE', { code_challenge: undefined }],
    ['with plain PKCE', { code_challenge_method: 'plain' }],
    ['to a foreign redirect address', { redirect_uri: 'https://evil.example/callback' }],
    ['to another path of the loopback', { redirect_uri: 'http://127.0.0.1:1/other' }],
    ['as an implicit flow', { response_type: 'id_token' }],
  ])('a sign-in %s is refused', async (_name, change) => {
    const parameters: Record<string, string | undefined> = {
      client_id: 'kubernetes',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      state: 'x',
      ...change,
    }
    const url = new URL('/oidc/authorize', environment.url)
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
    const { browser } = await environment.signIn('dave')
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    const answer = await environment.fetch(url.href, { redirect: 'manual', headers: { accept: 'text/html', cookie } })
    const location = answer.headers.get('location') ?? ''
    expect(location).not.toContain('evil.example')
    expect(location).not.toContain('/oidc/interaction')
    if (location === '') expect(answer.status).toBe(400)
    else expect(location).toMatch(/^http:\/\/127\.0\.0\.1:1\/callback[?#](.*&)?error=/)
  })
})

test('a stranger is sent to sign in before the issuer remembers anything, and a program that wants no page gets an error', async () => {
  const url = new URL('/oidc/authorize', environment.url)
  const parameters = {
    client_id: 'kubernetes',
    response_type: 'code',
    scope: 'openid',
    state: 'x',
    code_challenge: 'a'.repeat(43),
  }
  const rest = { code_challenge_method: 'S256', redirect_uri: 'http://127.0.0.1:1/callback' }
  for (const [name, value] of Object.entries({ ...parameters, ...rest })) url.searchParams.set(name, value)
  const asked = await environment.fetch(url.href, { redirect: 'manual' })
  expect(asked.headers.get('location')).toMatch(/^\/login\?return_to=%2Foidc%2Fauthorize/)
  expect(asked.headers.getSetCookie()).toEqual([])
  url.searchParams.set('prompt', 'none')
  const answer = await environment.fetch(url.href, { redirect: 'manual' })
  expect(new URL(answer.headers.get('location') ?? '').searchParams.get('error')).toBe('login_required')
})

describe('a push', () => {
  test('wakes the RemoteSync that follows the branch within a second, and no other', async () => {
    const namespace = environment.organization.login
    const make = (name: string, branch: string) =>
      environment.kube.create(
        remoteSync,
        {
          apiVersion: remoteSync.apiVersion,
          kind: remoteSync.kind,
          metadata: { name, namespace },
          spec: {
            installation: 'github',
            repository: `${namespace}/shop`,
            source: { branch },
            build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
            application: 'shop',
            requestedBy: environment.subjectOf('dave'),
          },
        },
        { fieldManager: 'test' },
      )
    await make('main', 'main')
    await make('other', 'other')
    await waitUntil('both are in the cache', async () => (await environment.kube.list(remoteSync, { namespace })).length === 2)
    const bound = await environment.kube.get(installation, { namespace, name: 'github' })
    const body = JSON.stringify({
      ref: 'refs/heads/main',
      before: 'a',
      after: 'b',
      repository: { id: 4001, full_name: `${namespace}/shop` },
      installation: { id: bound?.spec.installationId },
      sender: { id: 1002 },
    })
    const deliveryId = randomBytes(16).toString('hex')
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': deliveryId,
      'x-hub-signature-256': `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`,
    }
    expect((await environment.fetch(`${environment.url}/webhooks/github`, { method: 'POST', body, headers })).status).toBe(202)
    const woken = await waitUntil(
      'the wake annotation',
      async () => (await environment.kube.get(remoteSync, { namespace, name: 'main' }))?.metadata.annotations?.[wakeAnnotation],
    )
    expect(woken).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\//)
    expect(woken.endsWith(`/${deliveryId}`)).toBe(true)
    const other = await environment.kube.get(remoteSync, { namespace, name: 'other' })
    expect(other?.metadata.annotations?.[wakeAnnotation]).toBeUndefined()
  })
})

// Last, because it uses up the rate limit of this address.
describe('guessing', () => {
  test('a person who guesses codes is locked out', async () => {
    const { browser } = await environment.signIn('noah')
    let page = await browser.open(`${environment.url}/device`)
    for (let attempt = 0; attempt < 10; attempt += 1) {
      page = await page.form('Continue').submit({ user_code: `BBBB-BBB${'BCDFGHJKLM'[attempt]}` })
      expect(page.status).toBe(200)
    }
    expect((await page.form('Continue').submit({ user_code: 'BBBB-BBBB' })).status).toBe(429)
  })
})
