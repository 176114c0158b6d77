// The pages as users use them: installing and requesting an installation, pull requests, and what a page must refuse.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import type { Browser } from '../testing/browser.ts'
import { createBrowser } from '../testing/browser.ts'
import { cloneUrl, createGitClient } from '../testing/git-client.ts'
import { postToken } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'

const setup = 'http://127.0.0.1:9/setup'
const callback = 'http://127.0.0.1:9/callback'
let emulator: RunningEmulator
let receiver: WebhookReceiver

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url, callbackUrls: [callback], setupUrl: setup } })
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

async function person(login: string): Promise<Browser> {
  const browser = await signIn(emulator, login)
  browser.stops.push('http://127.0.0.1:9/')
  return browser
}

function parameters(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams)
}

function app() {
  const [first] = emulator.context.state.apps
  if (!first) throw new Error('no App')
  return first
}

describe('installing', () => {
  test('a member requests, without a state in return; an owner approves, and the webhook has the requester', async () => {
    const mia = await person('mia')
    const asked = await install(emulator, mia, 2001, { repositoryIds: [4001], state: 'secret', button: 'Request' })
    expect(asked.url.startsWith(setup)).toBe(true)
    expect(parameters(asked.url)).toEqual({ setup_action: 'request' })
    expect(emulator.context.state.installations).toEqual([])
    const olivia = await person('olivia')
    const approved = await (await olivia.open(`${emulator.url}/acme`)).form('Approve and install').submit()
    const { installation_id, ...rest } = parameters(approved.url)
    expect(rest).toEqual({ setup_action: 'install' })
    const created = await receiver.waitFor(one => one.event === 'installation')
    expect(created.payload).toMatchObject({
      action: 'created',
      requester: { login: 'mia' },
      sender: { login: 'olivia' },
      installation: { id: Number(installation_id), repository_selection: 'selected' },
      repositories: [{ id: 4001 }],
    })
  })

  test('only a member of an account can request', async () => {
    const noah = await person('noah')
    const page = await noah.open(`${emulator.url}/github-apps/sekisho-dev/installations/new/permissions?target_id=2001`)
    expect(page.status).toBe(404)
    expect((await noah.open(`${emulator.url}/github-apps/sekisho-dev/installations/new`)).text).not.toContain('acme')
  })

  test('an owner of one organization cannot install on another by changing the form', async () => {
    const gary = await person('gary')
    const page = await gary.open(`${emulator.url}/github-apps/sekisho-dev/installations/new/permissions?target_id=2002`)
    const forged = { target_id: '2001', repository_selection: 'all' }
    expect((await page.form('Install').submit(forged)).status).toBe(404)
    const foreign = { repository_selection: 'selected', repository_ids: '4002' }
    expect((await page.form('Install').submit(foreign)).status).toBe(422)
  })

  test('an owner installs on chosen repositories and the state is returned', async () => {
    const gary = await person('gary')
    const end = await install(emulator, gary, 2002, { repositoryIds: [4003], state: 'a b&c' })
    expect(parameters(end.url)).toMatchObject({ setup_action: 'install', state: 'a b&c' })
    const again = await gary.open(`${emulator.url}/github-apps/sekisho-dev/installations/new/permissions?target_id=2002`)
    expect(again.url).toContain('/settings/installations/')
  })

  test('with authorization during installation the callback gets a code that can be exchanged', async () => {
    app().requestOAuthOnInstall = true
    const noah = await person('noah')
    const end = await install(emulator, noah, 1005, { repositoryIds: 'all', state: 's' })
    app().requestOAuthOnInstall = false
    expect(end.url.startsWith(callback)).toBe(true)
    const { code = '', ...rest } = parameters(end.url)
    expect(rest).toMatchObject({ setup_action: 'install', state: 's' })
    expect(await postToken(emulator, { code })).toHaveProperty('access_token')
  })

  test('changing repositories, suspending and uninstalling each send their webhook; others cannot', async () => {
    const [installation] = emulator.context.state.installations.filter(one => one.accountId === 2001)
    const address = `${emulator.url}/settings/installations/${installation?.id}`
    expect((await (await person('mia')).open(address)).status).toBe(404)
    const olivia = await person('olivia')
    await (await olivia.open(address)).form('Save').submit({ repository_selection: 'selected', repository_ids: ['4002'] })
    const added = await receiver.waitFor(one => one.event === 'installation_repositories' && one.payload['action'] === 'added')
    expect(added.payload).toMatchObject({ repositories_added: [{ id: 4002 }], repositories_removed: [] })
    const removed = await receiver.waitFor(
      one => one.event === 'installation_repositories' && one.payload['action'] === 'removed',
    )
    expect(removed.payload).toMatchObject({ repositories_removed: [{ id: 4001 }] })
    await (await olivia.open(address)).form('Suspend').submit()
    await receiver.waitFor(one => one.payload['action'] === 'suspend')
    await (await olivia.open(address)).form('Unsuspend').submit()
    await receiver.waitFor(one => one.payload['action'] === 'unsuspend')
    await (await olivia.open(address)).form('Uninstall').submit()
    const deleted = await receiver.waitFor(one => one.payload['action'] === 'deleted' && one.event === 'installation')
    expect(deleted.payload).toMatchObject({ installation: { account: { id: 2001 } }, repositories: [{ id: 4002 }] })
  })
})

describe('pull requests', () => {
  test('opened, followed by a push, merged and shown; the App is notified of each step', async () => {
    await install(emulator, await person('olivia'), 2001, { repositoryIds: 'all' })
    const dave = await person('dave')
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
    await git.run('checkout', '-b', 'change')
    await git.commit('a', '1', 'One')
    await git.run('push', 'origin', 'HEAD')
    const form = (await dave.open(`${emulator.url}/acme/shop/pulls`)).form('Create pull request')
    const title = '<script>alert(1)</script>'
    const pull = await form.submit({ head: 'change', title })
    expect(pull.text).not.toContain(title)
    expect(pull.text).toContain('&lt;script&gt;')
    const sha = await git.commit('a', '2', 'Two')
    await git.run('push', 'origin', 'HEAD')
    const synchronized = await receiver.waitFor(one => one.event === 'pull_request' && one.payload['action'] === 'synchronize')
    expect(synchronized.payload).toMatchObject({ after: sha, pull_request: { head: { sha } } })
    expect((await git.run('ls-remote', 'origin', 'refs/pull/1/head')).stdout).toContain(sha)
    expect((await git.run('push', 'origin', 'HEAD:refs/pull/1/head')).ok).toBe(false)
    const merged = await (await dave.open(pull.url)).form('Merge pull request').submit()
    expect(merged.text).toContain('merged')
    const closed = await receiver.waitFor(one => one.event === 'pull_request' && one.payload['action'] === 'closed')
    expect(closed.payload).toMatchObject({ pull_request: { merged: true, merged_by: { login: 'dave' }, number: 1 } })
    await git.run('fetch', 'origin')
    expect((await git.run('merge-base', '--is-ancestor', sha, 'origin/main')).ok).toBe(true)
    await git.remove()
  })

  test('a person without access sees neither the repository nor its pull requests', async () => {
    const mia = await person('mia')
    expect((await mia.open(`${emulator.url}/acme/shop`)).status).toBe(404)
    expect((await mia.open(`${emulator.url}/acme/shop/pull/1`)).status).toBe(404)
  })

  test('closing and reopening', async () => {
    const dave = await person('dave')
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
    await git.run('checkout', '-b', 'second')
    await git.commit('b', '1', 'B')
    await git.run('push', 'origin', 'HEAD')
    const pull = await (await dave.open(`${emulator.url}/acme/shop/pulls`))
      .form('Create pull request')
      .submit({ head: 'second', title: 'B' })
    const closed = await pull.form('Close pull request').submit()
    const reopened = await closed.form('Reopen pull request').submit()
    expect(reopened.text).toContain('<strong>open</strong>')
    const commented = await reopened.form('Comment').submit({ body: 'Looks good' })
    expect(commented.text).toContain('Looks good')
    await git.run('push', 'origin', ':second')
    expect((await dave.open(pull.url)).text).toContain('<strong>closed</strong>')
    await git.remove()
  })
})

describe('settings of a repository', () => {
  test('an administrator renames, publishes, archives and deletes with buttons; others cannot; everyone with access can fork', async () => {
    const dave = await person('dave')
    const fork = await (await dave.open(`${emulator.url}/acme/shop/settings`)).form('Fork').submit()
    expect(fork.url).toBe(`${emulator.url}/dave/shop`)
    const renamed = await (await dave.open(`${emulator.url}/dave/shop/settings`)).form('Rename').submit({ name: 'mine' })
    expect(renamed.url).toBe(`${emulator.url}/dave/mine`)
    const at = `${emulator.url}/dave/mine/settings`
    expect((await (await dave.open(at)).form('Make public').submit()).text).not.toContain('(private)')
    expect((await (await dave.open(at)).form('Archive').submit()).text).toContain('It is read-only')
    await (await dave.open(at)).form('Unarchive').submit()
    await (await dave.open(at)).form('Delete this repository').submit()
    expect((await dave.open(at)).status).toBe(404)
    const foreign = await (await dave.open(`${emulator.url}/acme/shop/settings`)).form('Fork')
    const fields = { authenticity_token: foreign.fields.get('authenticity_token') ?? '', archived: '1' }
    expect((await dave.open(`${emulator.url}/acme/shop/settings`)).text).not.toContain('Delete this repository')
    const cookie = `user_session=${dave.cookies(emulator.url)['user_session']}`
    const body = new URLSearchParams(fields)
    const forged = await fetch(`${emulator.url}/acme/shop/settings/archive`, { method: 'POST', headers: { cookie }, body })
    expect(forged.status).toBe(403)
  })
})

describe('sessions', () => {
  test('signing out ends the session on the server', async () => {
    const dave = await person('dave')
    const cookie = Object.entries(dave.cookies(emulator.url))
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
    await (await dave.open(emulator.url)).form('Sign out').submit()
    const response = await fetch(`${emulator.url}/`, { headers: { cookie }, redirect: 'manual' })
    expect(response.headers.get('location')).toMatch(/^\/login/)
  })

  test.each(['//evil.test/', 'https://evil.test/', '/\\evil.test', 'javascript:alert(1)'])(
    'signing in never leads to %s',
    async address => {
      const page = await createBrowser().open(`${emulator.url}/login?return_to=${encodeURIComponent(address)}`)
      const end = await page.form('Sign in as dave').submit({ return_to: address })
      expect(end.url).toBe(`${emulator.url}/`)
    },
  )
})
