// The device flow for a device, its user and the App's owner.
import { createDeviceCode, exchangeDeviceCode } from '@octokit/oauth-methods'
import { request } from '@octokit/request'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import type { Browser } from '../testing/browser.ts'
import { exchange, postToken } from '../testing/oauth.ts'
import { signIn } from '../testing/people.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'

const callback = 'http://127.0.0.1:9/callback'
const grant = 'urn:ietf:params:oauth:grant-type:device_code'
let emulator: RunningEmulator
let dave: Browser
let clock = Date.now()

beforeAll(async () => {
  emulator = await startStockedEmulator({ app: { callbackUrls: [callback], deviceFlow: true }, now: () => clock })
  dave = await signIn(emulator, 'dave')
  dave.stops.push('http://127.0.0.1:9/')
})
afterAll(() => emulator.stop())

type Codes = { readonly device_code: string; readonly user_code: string }

async function start(client_id = emulator.app.clientId): Promise<Codes> {
  const response = await fetch(`${emulator.url}/login/device/code`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ client_id }),
  })
  return (await response.json()) as Codes
}

/** A request of a device: without the client secret. */
async function poll(device_code: string, more: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({ client_id: emulator.app.clientId, device_code, grant_type: grant, ...more })
  const headers = { accept: 'application/json' }
  const response = await fetch(`${emulator.url}/login/oauth/access_token`, { method: 'POST', headers, body })
  return (await response.json()) as Record<string, unknown>
}

async function answer(browser: Browser, user_code: string, button: string) {
  const confirm = await (await browser.open(`${emulator.url}/login/device`)).form('Continue').submit({ user_code })
  return confirm.form(button).submit()
}

async function whoIs(token: unknown): Promise<number> {
  return (await fetch(`${emulator.apiUrl}/user`, { headers: { authorization: `Bearer ${String(token)}` } })).status
}

describe('the device flow', () => {
  test('real clients get a code, wait, and get a token of the user who entered it', async () => {
    const client = { clientType: 'github-app', clientId: emulator.app.clientId } as const
    const api = { request: request.defaults({ baseUrl: emulator.apiUrl }) }
    const { data } = await createDeviceCode({ ...client, ...api })
    expect(data).toMatchObject({
      device_code: expect.stringMatching(/^[0-9a-f]{40}$/),
      user_code: expect.stringMatching(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/),
      verification_uri: `${emulator.url}/login/device`,
      expires_in: 900,
      interval: 5,
    })
    await expect(exchangeDeviceCode({ ...client, ...api, code: data.device_code })).rejects.toThrow(/pending/)
    const done = await answer(dave, data.user_code.toLowerCase().replace('-', ''), 'Authorize sekisho-dev')
    expect(done.text).toContain('Your device is connected')
    clock += 5000
    const { authentication } = await exchangeDeviceCode({ ...client, ...api, code: data.device_code })
    expect(await whoIs(authentication.token)).toBe(200)
    clock += 5000
    await expect(exchangeDeviceCode({ ...client, ...api, code: data.device_code })).rejects.toThrow(/incorrect_device_code/)
  })

  test('a device that polls too fast gets slow_down, each time with five seconds more', async () => {
    const { device_code } = await start()
    expect(await poll(device_code)).toMatchObject({ error: 'authorization_pending' })
    clock += 4999
    expect(await poll(device_code)).toMatchObject({ error: 'slow_down', interval: 10 })
    clock += 9999
    expect(await poll(device_code)).toMatchObject({ error: 'slow_down', interval: 15 })
    clock += 15_000
    expect(await poll(device_code)).toMatchObject({ error: 'authorization_pending' })
  })

  test("the device gets the user's refusal", async () => {
    const { device_code, user_code } = await start()
    await answer(dave, user_code, 'Cancel')
    expect(await poll(device_code)).toMatchObject({ error: 'access_denied' })
    const again = await (await dave.open(`${emulator.url}/login/device`)).form('Continue').submit({ user_code })
    expect(again.status).toBe(422)
  })

  test('a code that is old, unknown or of another App is refused', async () => {
    const { device_code, user_code } = await start()
    clock += 900_000
    expect((await (await dave.open(`${emulator.url}/login/device`)).form('Continue').submit({ user_code })).status).toBe(422)
    expect(await poll(device_code)).toMatchObject({ error: 'expired_token' })
    expect(await poll('0'.repeat(40))).toMatchObject({ error: 'incorrect_device_code' })
    expect(await start('nobody')).toEqual({ error: 'Not Found' })
  })

  test('an App without the device flow is refused', async () => {
    const olivia = await signIn(emulator, 'olivia')
    const settings = `${emulator.url}/settings/apps/sekisho-dev`
    const { device_code } = await start()
    await (await olivia.open(settings)).form('Save changes').submit({ device_flow: '' })
    expect(await start()).toMatchObject({ error: 'device_flow_disabled' })
    expect(await poll(device_code)).toMatchObject({ error: 'device_flow_disabled' })
    await (await olivia.open(settings)).form('Save changes').submit({ device_flow: '1' })
    expect((await dave.open(settings)).status).toBe(404)
  })
})

describe('refreshing', () => {
  test('a token of the device flow is refreshed without the client secret, once; one of the web flow is not', async () => {
    const { device_code, user_code } = await start()
    await answer(dave, user_code, 'Authorize sekisho-dev')
    const first = await poll(device_code)
    const again = { grant_type: 'refresh_token', refresh_token: String(first['refresh_token']) }
    const second = await poll('', again)
    expect(await whoIs(second['access_token'])).toBe(200)
    expect(await whoIs(first['access_token'])).toBe(401)
    expect(await poll('', again)).toMatchObject({ error: 'incorrect_client_credentials' })
    expect(await postToken(emulator, again)).toMatchObject({ error: 'bad_refresh_token' })
    const third = { grant_type: 'refresh_token', refresh_token: String(second['refresh_token']) }
    expect(await postToken(emulator, { ...third, client_secret: 'wrong' })).toMatchObject({
      error: 'incorrect_client_credentials',
    })
    expect(await poll('', third)).toHaveProperty('access_token')
    const web = await exchange(emulator, dave)
    const refresh = { grant_type: 'refresh_token', refresh_token: web.refresh_token }
    expect(await poll('', refresh)).toMatchObject({ error: 'incorrect_client_credentials' })
    expect(await whoIs(web.access_token)).toBe(200)
  })
})
