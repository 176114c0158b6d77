// The emulator from end to end, with a browser, git and the Octokit libraries.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAppAuth } from '@octokit/auth-app'
import { request } from '@octokit/request'
import { verify } from '@octokit/webhooks-methods'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningEmulator, startEmulator } from './emulator.ts'
import { cloneUrl, createGitClient } from './testing/git-client.ts'
import { exchange } from './testing/oauth.ts'
import { install, signIn } from './testing/people.ts'
import { startWebhookReceiver, type WebhookReceiver } from './testing/webhook-receiver.ts'

const callback = 'http://127.0.0.1:9/callback'
let emulator: RunningEmulator
let receiver: WebhookReceiver
let installationId: number

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startEmulator({
    app: { webhookUrl: receiver.url, callbackUrls: [callback], setupUrl: 'http://127.0.0.1:9/setup' },
  })
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  installationId = Number(new URL(end.url).searchParams.get('installation_id'))
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

async function mint(parameters: Record<string, unknown>): Promise<string> {
  const auth = createAppAuth({
    appId: emulator.app.id,
    privateKey: emulator.app.privateKeyPem,
    request: request.defaults({ baseUrl: emulator.apiUrl }),
  })
  const { token } = await auth({ type: 'installation', installationId, refresh: true, ...parameters })
  return token
}

describe('from installation to webhook', () => {
  test('an owner installs the App, and its receiver gets the webhook with a valid signature', async () => {
    const created = await receiver.waitFor(one => one.event === 'installation')
    expect(created.payload).toMatchObject({
      action: 'created',
      installation: { id: installationId, account: { login: 'acme', id: 2001 } },
    })
    expect(await verify(emulator.app.webhookSecret, created.body, created.signature)).toBe(true)
    expect(await verify(emulator.app.webhookSecret, `${created.body} `, created.signature)).toBe(false)
  })

  test('a narrowed token fetches its repository and no other, and cannot push', async () => {
    const token = await mint({ repositoryIds: [4001], permissions: { contents: 'read' } })
    const git = await createGitClient()
    expect(await git.run('clone', '--depth=1', cloneUrl(emulator.url, 'acme/shop', token), '.')).toMatchObject({ ok: true })
    await git.commit('evil.txt', 'x', 'Evil')
    const push = await git.run('push', 'origin', 'HEAD:main')
    expect(push.ok).toBe(false)
    expect(push.stderr).toContain('403')
    const other = await git.run('ls-remote', cloneUrl(emulator.url, 'acme/secret-plans', token))
    expect(other.ok).toBe(false)
    expect(other.stderr).toContain('not found')
    await git.remove()
  })

  test('a push by a person becomes a push webhook with the commit', async () => {
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
    const sha = await git.commit('index.html', 'hello', 'Say hello')
    expect(await git.run('push', 'origin', 'HEAD:main')).toMatchObject({ ok: true })
    const push = await receiver.waitFor(one => one.event === 'push' && one.payload['after'] === sha)
    expect(push.payload).toMatchObject({
      ref: 'refs/heads/main',
      head_commit: { id: sha, message: 'Say hello' },
      repository: { id: 4001, full_name: 'acme/shop' },
      sender: { login: 'dave' },
      installation: { id: installationId },
    })
    await git.remove()
  })
})

describe('a restart', () => {
  test('keeps sessions, tokens, installations, secrets, repositories and deliveries', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'github-state-'))
    const first = await startEmulator({ stateFolder: folder, app: { webhookUrl: receiver.url, callbackUrls: [callback] } })
    const browser = await signIn(first, 'olivia')
    await install(first, browser, 2001, { repositoryIds: 'all' })
    const tokens = await exchange(first, browser)
    await first.context.webhooks.idle()
    await first.stop()

    const second = await startEmulator({ stateFolder: folder, port: Number(new URL(first.url).port) })
    const authorization = `Bearer ${tokens.access_token}`
    expect((await fetch(`${second.apiUrl}/user/installations`, { headers: { authorization } })).status).toBe(200)
    expect((await browser.open(second.url)).text).toContain('Hello olivia')
    expect(second.app).toEqual(first.app)
    expect(second.context.webhooks.log.list(5001).map(one => one.event)).toEqual(['installation'])
    expect(second.context.state.apps[0]?.callbackUrls).toEqual([callback])
    const git = await createGitClient()
    expect(await git.run('ls-remote', cloneUrl(second.url, 'acme/shop', second.personalTokens['dave']))).toMatchObject({
      ok: true,
    })
    await git.remove()
    await second.stop()
    await rm(folder, { recursive: true })
  })

  test('after a start that ended before the state was written starts from the seed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'github-state-'))
    await (await startEmulator({ stateFolder: folder })).stop()
    await rm(join(folder, 'world.json'))
    const again = await startEmulator({ stateFolder: folder })
    const git = await createGitClient()
    expect(await git.run('ls-remote', cloneUrl(again.url, 'acme/shop', again.personalTokens['dave']))).toMatchObject({ ok: true })
    await git.remove()
    await again.stop()
    await rm(folder, { recursive: true })
  })

  test('the state contains no secret in clear text except those that GitHub itself must know', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'github-state-'))
    const one = await startEmulator({ stateFolder: folder, app: { callbackUrls: [callback] } })
    const tokens = await exchange(one, await signIn(one, 'dave'))
    await one.stop()
    const text = await readFile(join(folder, 'world.json'), 'utf8')
    for (const secret of [tokens.access_token, tokens.refresh_token, one.personalTokens['dave'] ?? '', 'PRIVATE KEY']) {
      expect(text).not.toContain(secret)
    }
    expect((await stat(join(folder, 'world.json'))).mode & 0o077).toBe(0)
    await rm(folder, { recursive: true })
  })
})
