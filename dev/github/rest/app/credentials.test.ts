// Leaked credentials are ended by whoever finds them; what is unknown or no such credential changes nothing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEmulator, startEmulator } from '../../emulator.ts'
import { exchange } from '../../testing/oauth.ts'
import { install, signIn } from '../../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../../testing/rest-client.ts'

let emulator: RunningEmulator
let clients: RestClients

beforeAll(async () => {
  const callbackUrls = ['http://127.0.0.1:9/callback']
  emulator = await startEmulator({ flavour: 'github.com', app: { callbackUrls, setupUrl: 'http://127.0.0.1:9/setup' } })
  clients = createRestClients(emulator)
})
afterAll(() => emulator.stop())

const revoke = (credentials: readonly string[]) =>
  clients.anonymous.request('POST /credentials/revoke', { credentials: [...credentials] })
const whoIs = async (token: string): Promise<number> =>
  (await fetch(`${emulator.apiUrl}/user`, { headers: { authorization: `Bearer ${token}` } })).status

test('personal, user and refresh tokens die; a refresh token takes its access token along', async () => {
  const dave = await signIn(emulator, 'dave')
  const [one, two] = [await exchange(emulator, dave), await exchange(emulator, dave)]
  const personal = emulator.personalTokens['mia'] ?? ''
  expect((await revoke([one.access_token, two.refresh_token, personal, 'ghp_unknown'])).status).toBe(202)
  expect([await whoIs(one.access_token), await whoIs(two.access_token), await whoIs(personal)]).toEqual([401, 401, 401])
})

test('an installation token is not taken', async () => {
  const olivia = await signIn(emulator, 'olivia')
  olivia.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, olivia, 2001, { repositoryIds: 'all' })
  const token = await clients.mint(Number(new URL(end.url).searchParams.get('installation_id')))
  await revoke([token])
  expect((await clients.by(token).request('GET /installation/repositories')).status).toBe(200)
})

test('no list, an empty one and one of more than 1000 are refused', async () => {
  expect((await refusal(revoke([]))).status).toBe(422)
  expect((await refusal(revoke(Array(1001).fill('ghp_x')))).status).toBe(422)
})

test('a GitHub Enterprise Server does not have it', async () => {
  const server = await startEmulator()
  const response = await fetch(`${server.apiUrl}/credentials/revoke`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(404)
  await server.stop()
})
