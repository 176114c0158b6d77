// New permissions of an App: none without acceptance, fewer at once, by the pages. And suspending, selecting and removing an
// installation, and what its tokens can do afterwards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import type { Browser } from '../testing/browser.ts'
import { cloneUrl, createGitClient } from '../testing/git-client.ts'
import { exchange } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let olivia: Browser
let id: number

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const addresses = { callbackUrls: ['http://127.0.0.1:9/callback'], setupUrl: 'http://127.0.0.1:9/setup' }
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url, ...addresses } })
  clients = createRestClients(emulator)
  olivia = await signIn(emulator, 'olivia')
  olivia.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, olivia, 2001, { repositoryIds: [4001] })
  id = Number(new URL(end.url).searchParams.get('installation_id'))
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

function settings() {
  return olivia.open(`${emulator.url}/settings/installations/${id}`)
}

function app() {
  return olivia.open(`${emulator.url}/settings/apps/sekisho-dev`)
}

function mint(permissions?: Record<string, string>) {
  return clients.mint(id, permissions ? { permissions } : {})
}

const shop = { owner: 'acme', repo: 'shop' }

describe('new permissions', () => {
  test('have no effect until an owner accepts them, of which the App is notified', async () => {
    const form = (await app()).form('Save changes')
    await form.submit({ permissions: `${form.fields.get('permissions')}\nenvironments: write` })
    expect((await refusal(clients.mint(id, { permissions: { environments: 'write' } }))).status).toBe(422)
    const mia = await signIn(emulator, 'mia')
    expect((await mia.open(`${emulator.url}/settings/installations/${id}`)).status).toBe(404)
    const page = await settings()
    expect(page.text).toContain('environments: write')
    await page.form('Accept new permissions').submit()
    const accepted = await receiver.waitFor(one => one.payload['action'] === 'new_permissions_accepted')
    expect(accepted.payload).toMatchObject({
      installation: { id, permissions: { environments: 'write' } },
      sender: { login: 'olivia' },
    })
    await mint({ environments: 'write' })
    expect((await settings()).text).not.toContain('Accept new permissions')
  })

  test('that are removed end at once, also for issued tokens', async () => {
    const client = clients.by(await mint())
    await client.request('GET /repos/{owner}/{repo}/pulls', shop)
    const form = (await app()).form('Save changes')
    const before = form.fields.get('permissions') ?? ''
    await form.submit({ permissions: before.replace(/pull_requests: \w+/, '').replace('contents: write', 'contents: read') })
    expect((await refusal(client.request('GET /repos/{owner}/{repo}/pulls', shop))).status).toBe(403)
    const merge = { ...shop, pull_number: 1 }
    expect((await refusal(client.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', merge))).status).toBe(403)
    await (await app()).form('Save changes').submit({ permissions: before })
    expect((await refusal(client.request('GET /repos/{owner}/{repo}/pulls', shop))).status).toBe(403)
    await (await settings()).form('Accept new permissions').submit()
  })

  test('that are not permissions are refused, and only the owner of the App can request any', async () => {
    expect((await (await app()).form('Save changes').submit({ permissions: 'contents: everything' })).status).toBe(422)
    expect((await (await signIn(emulator, 'dave')).open(`${emulator.url}/settings/apps/sekisho-dev`)).status).toBe(404)
  })
})

test('a change of the selected repositories reaches the tokens at once', async () => {
  const select = async (...ids: string[]) =>
    (await settings()).form('Save').submit({ repository_selection: 'selected', repository_ids: ids })
  const wide = clients.by(await mint())
  expect((await wide.request('GET /installation/repositories')).data.repositories.map(one => one.id)).toEqual([4001])
  await select('4001', '4002')
  await receiver.waitFor(one => one.event === 'installation_repositories' && one.payload['action'] === 'added')
  expect((await wide.request('GET /installation/repositories')).data.total_count).toBe(2)
  const narrow = await clients.mint(id, { repository_ids: [4002] })
  await select('4001')
  expect((await refusal(clients.by(narrow).request('GET /repositories/4002'))).status).toBe(404)
  const git = await createGitClient()
  expect((await git.run('ls-remote', cloneUrl(emulator.url, 'acme/secret-plans', narrow))).ok).toBe(false)
  await git.remove()
})

test("a suspended installation refuses the App's user tokens and git until it is unsuspended", async () => {
  const user = (await exchange(emulator, olivia)).access_token
  const token = await mint()
  const git = await createGitClient()
  const reads = async (credential: string): Promise<boolean> =>
    (await git.run('ls-remote', cloneUrl(emulator.url, 'acme/shop', credential))).ok
  expect([await reads(user), await reads(token)]).toEqual([true, true])
  await (await settings()).form('Suspend').submit()
  expect([await reads(user), await reads(token)]).toEqual([false, false])
  expect((await refusal(clients.by(user).request('GET /repos/{owner}/{repo}', shop))).status).toBe(404)
  expect((await refusal(clients.mint(id))).status).toBe(403)
  await (await settings()).form('Unsuspend').submit()
  expect([await reads(user), await reads(token)]).toEqual([true, true])
  await git.remove()
})
