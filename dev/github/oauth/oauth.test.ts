// The OAuth web flow for a browser and an application, and its refusals.
import { exchangeWebFlowCode, refreshToken } from '@octokit/oauth-methods'
import { request } from '@octokit/request'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { type Browser, createBrowser } from '../testing/browser.ts'
import { authorizeUrl, exchange, newVerifier, obtainCode, postToken } from '../testing/oauth.ts'
import { signIn } from '../testing/people.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'

const callback = 'http://127.0.0.1:9/callback'
const other = 'http://127.0.0.1:9/other?fixed=1'
let emulator: RunningEmulator
let receiver: WebhookReceiver
let dave: Browser
let clock = Date.parse('2026-01-01T00:00:00Z')

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url, callbackUrls: [callback, other] }, now: () => clock })
  dave = await signIn(emulator, 'dave')
  dave.stops.push('http://127.0.0.1:9/')
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

async function whoIs(token: unknown): Promise<number> {
  return (await fetch(`${emulator.apiUrl}/user`, { headers: { authorization: `Bearer ${String(token)}` } })).status
}

describe('authorizing', () => {
  test('a visitor signs in first and returns to the consent page', async () => {
    const browser = createBrowser()
    browser.stops.push('http://127.0.0.1:9/')
    const login = await browser.open(authorizeUrl(emulator, { state: 'abc' }))
    const consent = await login.form('Sign in as gary').submit()
    expect(consent.text).toContain('wants to verify your GitHub identity')
    const back = new URL((await consent.form('Authorize sekisho-dev').submit()).url)
    expect(`${back.origin}${back.pathname}`).toBe(callback)
    expect(back.searchParams.get('state')).toBe('abc')
    expect(back.searchParams.get('code')).toMatch(/^[0-9a-f]{20}$/)
  })

  test('consent is requested once, and again after it was revoked, of which the App is notified', async () => {
    await obtainCode(emulator, dave)
    expect((await dave.open(authorizeUrl(emulator, {}))).url).toContain('code=')
    const { access_token } = await exchange(emulator, dave)
    const settings = await dave.open(`${emulator.url}/settings/apps/authorizations`)
    await settings.form('Revoke sekisho-dev').submit()
    expect(await whoIs(access_token)).toBe(401)
    const webhook = await receiver.waitFor(one => one.event === 'github_app_authorization')
    expect(webhook.payload).toMatchObject({ action: 'revoked', sender: { id: 1002 } })
    expect((await dave.open(authorizeUrl(emulator, {}))).text).toContain('wants to verify')
  })

  test('cancelling redirects with access_denied and without a code', async () => {
    const mia = await signIn(emulator, 'mia')
    mia.stops.push('http://127.0.0.1:9/')
    const back = await (await mia.open(authorizeUrl(emulator, { state: 's' }))).form('Cancel').submit()
    const query = new URL(back.url).searchParams
    expect([query.get('error'), query.get('state'), query.get('code')]).toEqual(['access_denied', 's', null])
  })

  test.each([
    'http://127.0.0.1:9/callback/sub',
    'http://127.0.0.1:9/callback?x=1',
    'https://127.0.0.1:9/callback',
    'http://evil.test/callback',
  ])('the redirect address %s, which is not registered, never receives a code', async redirect_uri => {
    const back = new URL((await dave.open(authorizeUrl(emulator, { redirect_uri }))).url)
    expect(back.toString().startsWith(callback)).toBe(true)
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual(['redirect_uri_mismatch', null])
  })

  test('a plain code challenge is refused', async () => {
    const { challenge } = newVerifier()
    const back = await dave.open(authorizeUrl(emulator, { code_challenge: challenge, code_challenge_method: 'plain' }))
    expect(new URL(back.url).searchParams.get('error')).toBe('invalid_request')
  })

  test('an unknown client gets a page, not a redirect', async () => {
    expect((await dave.open(authorizeUrl(emulator, { client_id: 'nobody' }))).status).toBe(404)
  })

  test('a consent posted without the token of the session is refused', async () => {
    const page = await (await signIn(emulator, 'noah')).open(authorizeUrl(emulator, {}))
    expect((await page.form('Authorize sekisho-dev').submit({ authenticity_token: 'forged' })).status).toBe(422)
  })
})

describe('exchanging', () => {
  test('the Octokit method exchanges a code and refreshes the token', async () => {
    const app = { clientType: 'github-app', clientId: emulator.app.clientId, clientSecret: emulator.app.clientSecret } as const
    const baseUrl = { request: request.defaults({ baseUrl: emulator.apiUrl }) }
    const { authentication } = await exchangeWebFlowCode({ ...app, ...baseUrl, code: await obtainCode(emulator, dave) })
    expect(authentication).toMatchObject({ clientType: 'github-app', token: expect.stringMatching(/^ghu_\w{36}$/) })
    if (!('refreshToken' in authentication)) throw new Error('no refresh token')
    const refreshed = await refreshToken({ ...app, ...baseUrl, refreshToken: authentication.refreshToken })
    expect(await whoIs(refreshed.authentication.token)).toBe(200)
    expect(await whoIs(authentication.token)).toBe(401)
  })

  test('a code can be used once', async () => {
    const code = await obtainCode(emulator, dave)
    expect(await postToken(emulator, { code })).toMatchObject({ token_type: 'bearer', expires_in: 28_800 })
    expect(await postToken(emulator, { code })).toMatchObject({ error: 'bad_verification_code' })
  })

  test('a code is valid for ten minutes', async () => {
    const code = await obtainCode(emulator, dave)
    clock += 10 * 60_000
    expect(await postToken(emulator, { code })).toMatchObject({ error: 'bad_verification_code' })
  })

  test('a code with a challenge needs its verifier, and a wrong one uses it up', async () => {
    const { verifier, challenge } = newVerifier()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const missing = await obtainCode(emulator, dave, pkce)
    expect(await postToken(emulator, { code: missing })).toMatchObject({ error: 'bad_verification_code' })
    const wrong = await obtainCode(emulator, dave, pkce)
    expect(await postToken(emulator, { code: wrong, code_verifier: `${verifier}x` })).toMatchObject({
      error: 'bad_verification_code',
    })
    expect(await postToken(emulator, { code: wrong, code_verifier: verifier })).toMatchObject({ error: 'bad_verification_code' })
  })

  test('a redirect URI that differs from that of the code is refused', async () => {
    const code = await obtainCode(emulator, dave, { redirect_uri: other })
    expect(await postToken(emulator, { code, redirect_uri: callback })).toMatchObject({ error: 'redirect_uri_mismatch' })
    expect(await postToken(emulator, { code, redirect_uri: other })).toMatchObject({ token_type: 'bearer' })
  })

  test("wrong client credentials and grant types are refused with GitHub's errors", async () => {
    const code = await obtainCode(emulator, dave)
    expect(await postToken(emulator, { code, client_secret: 'x' })).toMatchObject({ error: 'incorrect_client_credentials' })
    expect(await postToken(emulator, { code, client_id: 'x' })).toEqual({ error: 'Not Found' })
    expect(await postToken(emulator, { code, grant_type: 'password' })).toMatchObject({ error: 'unsupported_grant_type' })
  })

  test('a refresh token can be used once and ends its access token', async () => {
    const first = await exchange(emulator, dave)
    const wanted = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const second = await postToken(emulator, wanted)
    expect(second['access_token']).toMatch(/^ghu_/)
    expect(await whoIs(first.access_token)).toBe(401)
    expect(await postToken(emulator, wanted)).toMatchObject({ error: 'bad_refresh_token' })
    const third = { grant_type: 'refresh_token', refresh_token: String(second['refresh_token']) }
    expect(await postToken(emulator, { ...third, client_secret: 'x' })).toMatchObject({ error: 'incorrect_client_credentials' })
    expect(await postToken(emulator, third)).toHaveProperty('access_token')
  })

  test('an access token expires after eight hours, before its refresh token', async () => {
    const tokens = await exchange(emulator, dave)
    clock += 8 * 3_600_000
    expect(await whoIs(tokens.access_token)).toBe(401)
    expect(await postToken(emulator, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token })).toHaveProperty(
      'access_token',
    )
  })

  test('the eleventh token of a person ends the first', async () => {
    const first = await exchange(emulator, dave)
    for (let count = 0; count < 9; count += 1) await exchange(emulator, dave)
    expect(await whoIs(first.access_token)).toBe(200)
    await exchange(emulator, dave)
    expect(await whoIs(first.access_token)).toBe(401)
  })

  test('without a request for JSON the response is a form', async () => {
    const body = new URLSearchParams({ client_id: emulator.app.clientId, client_secret: emulator.app.clientSecret, code: 'nope' })
    const response = await fetch(`${emulator.url}/login/oauth/access_token`, { method: 'POST', body })
    expect(response.status).toBe(200)
    expect(new URLSearchParams(await response.text()).get('error')).toBe('bad_verification_code')
  })
})
