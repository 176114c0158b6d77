// Renames, transfers, visibility, archiving and deletion: what stays, what former names lead to, which webhooks follow, what is
// refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../../emulator.ts'
import { cloneUrl, createGitClient } from '../../testing/git-client.ts'
import { install, signIn } from '../../testing/people.ts'
import { createRestClients, type RestClient, type RestClients, refusal } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import { type ReceivedWebhook, startWebhookReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let olivia: RestClient
let installationId: number

function as(login: string): RestClient {
  return clients.by(emulator.personalTokens[login] ?? '')
}

function webhook(event: string, action: string, id?: number) {
  return receiver.waitFor(one => {
    const repository = one.payload['repository'] as { readonly id: number } | undefined
    return one.event === event && one.payload['action'] === action && (id === undefined || repository?.id === id)
  })
}

/** Without following redirects. */
function ask(path: string, login: string | undefined, init: RequestInit = {}) {
  return fetch(`${emulator.apiUrl}${path}`, {
    ...init,
    redirect: 'manual',
    headers: login === undefined ? {} : { authorization: `Bearer ${emulator.personalTokens[login]}` },
  })
}

async function create(name: string, isPrivate = true): Promise<number> {
  const asked = { org: 'acme', name, private: isPrivate, auto_init: true }
  return Number((await olivia.request('POST /orgs/{org}/repos', asked)).data.id)
}

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url, setupUrl: 'http://127.0.0.1:9/setup' } })
  clients = createRestClients(emulator)
  olivia = as('olivia')
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  installationId = Number(new URL(end.url).searchParams.get('installation_id'))
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

describe('a new name', () => {
  test('the old one redirects to the URL by id: 301 for reading, 307 for writing, with path and query', async () => {
    const id = await create('before')
    await olivia.request('PATCH /repos/{owner}/{repo}', { owner: 'acme', repo: 'before', name: 'after' })
    const read = await ask('/repos/acme/before/pulls?state=all&per_page=1', 'olivia')
    expect([read.status, read.headers.get('location')]).toEqual([
      301,
      `${emulator.apiUrl}/repositories/${id}/pulls?state=all&per_page=1`,
    ])
    expect(await read.json()).toMatchObject({ message: 'Moved Permanently', url: read.headers.get('location') })
    const written = await ask('/repos/acme/before', 'olivia', { method: 'PATCH', body: '{}' })
    expect([written.status, written.headers.get('location')]).toEqual([307, `${emulator.apiUrl}/repositories/${id}`])
    expect((await webhook('repository', 'renamed', id)).payload).toMatchObject({
      changes: { repository: { name: { from: 'before' } } },
      installation: { id: installationId },
    })
  })

  test('an old name reveals nothing to a person without access', async () => {
    expect((await ask('/repos/acme/before', 'noah')).status).toBe(404)
    expect((await ask('/repos/acme/before', undefined)).status).toBe(404)
  })

  test('git finds the repository under the old name, to read and to push', async () => {
    const git = await createGitClient()
    const url = cloneUrl(emulator.url, 'acme/before', emulator.personalTokens['olivia'])
    expect((await git.run('clone', url, '.')).stderr).toContain('redirecting to')
    await git.commit('x', '1', 'X')
    expect(await git.run('push', 'origin', 'HEAD')).toMatchObject({ ok: true })
    await git.remove()
    const { data } = await olivia.request('GET /repos/{owner}/{repo}/commits/{ref}', {
      owner: 'acme',
      repo: 'after',
      ref: 'main',
    })
    expect(data.commit.message).toBe('X')
  })

  test('a page under the old name redirects to the new one', async () => {
    const browser = await signIn(emulator, 'olivia')
    expect((await browser.open(`${emulator.url}/acme/before`)).url).toBe(`${emulator.url}/acme/after`)
  })

  test('the old name no longer redirects when another repository takes it', async () => {
    const id = await create('before')
    expect((await olivia.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'before' })).data.id).toBe(id)
    await olivia.request('DELETE /repos/{owner}/{repo}', { owner: 'acme', repo: 'before' })
    expect((await ask('/repos/acme/before', 'olivia')).status).toBe(404)
  })

  test('a name in use or malformed is refused', async () => {
    const after = { owner: 'acme', repo: 'after' }
    for (const name of ['shop', 'SHOP', 'a b', '..', 'x.git'])
      expect((await refusal(olivia.request('PATCH /repos/{owner}/{repo}', { ...after, name }))).status).toBe(422)
  })
})

describe('a new name of a branch', () => {
  test('the old one redirects, pull requests into it follow, those from it are closed, and the two refs are pushed', async () => {
    const id = await create('branches')
    const repo = { owner: 'acme', repo: 'branches' }
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/branches', emulator.personalTokens['olivia']), '.')
    for (const branch of ['into', 'from']) {
      await git.run('checkout', '-b', branch, 'origin/main')
      await git.commit(branch, branch, branch)
      await git.run('push', 'origin', branch)
    }
    await git.remove()
    const open = async (head: string, base: string): Promise<number> =>
      (await olivia.request('POST /repos/{owner}/{repo}/pulls', { ...repo, title: head, head, base })).data.number
    const [into, from] = [await open('into', 'main'), await open('from', 'into')]
    const rename = (branch: string, name: string, login = 'olivia') =>
      as(login).request('POST /repos/{owner}/{repo}/branches/{branch}/rename', { ...repo, branch, new_name: name })
    await rename('main', 'trunk')
    await rename('from', 'away')

    const read = await ask('/repos/acme/branches/branches/main', 'olivia')
    expect([read.status, read.headers.get('location')]).toEqual([301, `${emulator.apiUrl}/repositories/${id}/branches/trunk`])
    const pull = async (number: number) =>
      (await olivia.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...repo, pull_number: number })).data
    expect(await pull(into)).toMatchObject({ state: 'open', base: { ref: 'trunk' } })
    expect((await pull(from)).state).toBe('closed')
    expect((await webhook('repository', 'edited', id)).payload).toMatchObject({
      changes: { default_branch: { from: 'main' } },
      repository: { default_branch: 'trunk' },
    })
    const pushed = (ref: string, { created, deleted }: { readonly created: boolean; readonly deleted: boolean }) =>
      receiver.waitFor(({ event, payload }) => {
        const repository = payload['repository'] as { readonly id: number } | undefined
        const isSame = payload['created'] === created && payload['deleted'] === deleted
        return event === 'push' && payload['ref'] === ref && repository?.id === id && isSame
      })
    expect((await pushed('refs/heads/trunk', { created: true, deleted: false })).payload['after']).toBe(
      (await olivia.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...repo, ref: 'trunk' })).data.sha,
    )
    await pushed('refs/heads/main', { created: false, deleted: true })
    expect((await refusal(rename('trunk', 'into'))).status).toBe(422)
    expect((await refusal(rename('none', 'x'))).status).toBe(404)
  })
})

describe('a new owner', () => {
  test('the id stays, the old installation loses the repository, that of the new owner gets it', async () => {
    const browser = await signIn(emulator, 'olivia')
    browser.stops.push('http://127.0.0.1:9/')
    await install(emulator, browser, 1001, { repositoryIds: 'all' })
    const id = await create('wanderer')
    const token = await clients.mint(installationId, { repository_ids: [id] })
    await olivia.request('POST /repos/{owner}/{repo}/transfer', { owner: 'acme', repo: 'wanderer', new_owner: 'olivia' })
    expect((await refusal(clients.by(token).request(`GET /repositories/${id}`))).status).toBe(404)
    expect((await olivia.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'wanderer' })).data).toMatchObject({
      id,
      full_name: 'olivia/wanderer',
    })
    const lists = (list: string) => (one: ReceivedWebhook) =>
      JSON.stringify(one.payload[list] ?? []).includes(`"id":${id},`) && one.event === 'installation_repositories'
    const removed = await receiver.waitFor(lists('repositories_removed'))
    expect(removed.payload).toMatchObject({ action: 'removed', installation: { account: { id: 2001 } } })
    const added = await receiver.waitFor(lists('repositories_added'))
    expect(added.payload).toMatchObject({ action: 'added', installation: { account: { id: 1001 } } })
    expect((await webhook('repository', 'transferred', id)).payload).toMatchObject({
      changes: { owner: { from: { organization: { id: 2001 } } } },
    })
  })

  test('only an administrator can transfer a repository, and only to an account that they administer', async () => {
    const shop = { owner: 'acme', repo: 'shop' }
    const path = 'POST /repos/{owner}/{repo}/transfer' as const
    expect((await refusal(as('dave').request(path, { ...shop, new_owner: 'dave' }))).status).toBe(403)
    expect((await refusal(olivia.request(path, { ...shop, new_owner: 'globex' }))).status).toBe(403)
    const app = clients.by(await clients.mint(installationId))
    expect((await refusal(app.request(path, { ...shop, new_owner: 'olivia' }))).status).toBe(403)
  })
})

describe('visibility, archive and deletion', () => {
  test('a public repository is visible to everyone, a private one is not', async () => {
    const id = await create('shy')
    const change = (isPrivate: boolean) =>
      olivia.request('PATCH /repos/{owner}/{repo}', { owner: 'acme', repo: 'shy', private: isPrivate })
    await change(false)
    expect((await ask('/repos/acme/shy', undefined)).status).toBe(200)
    await webhook('repository', 'publicized', id)
    await change(true)
    expect((await ask('/repos/acme/shy', undefined)).status).toBe(404)
    await webhook('repository', 'privatized', id)
  })

  test('an archived repository can only be read until it is unarchived', async () => {
    const id = await create('old')
    const old = { owner: 'acme', repo: 'old' }
    await olivia.request('PATCH /repos/{owner}/{repo}', { ...old, archived: true })
    await webhook('repository', 'archived', id)
    const deploy = () => olivia.request('POST /repos/{owner}/{repo}/deployments', { ...old, ref: 'main', required_contexts: [] })
    expect((await refusal(deploy())).status).toBe(403)
    expect((await refusal(olivia.request('PATCH /repos/{owner}/{repo}', { ...old, name: 'older' }))).status).toBe(403)
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/old', emulator.personalTokens['olivia']), '.')
    await git.commit('x', '1', 'X')
    expect((await git.run('push', 'origin', 'HEAD')).stderr).toContain('403')
    await git.remove()
    await olivia.request('PATCH /repos/{owner}/{repo}', { ...old, archived: false })
    await webhook('repository', 'unarchived', id)
    expect((await deploy()).status).toBe(201)
  })

  test('a deleted repository is removed everywhere, and every App that had it is notified', async () => {
    const id = await create('doomed')
    const doomed = { owner: 'acme', repo: 'doomed' }
    expect((await refusal(as('dave').request('DELETE /repos/{owner}/{repo}', doomed))).status).toBe(404)
    await olivia.request('DELETE /repos/{owner}/{repo}', doomed)
    await webhook('repository', 'deleted', id)
    expect((await ask(`/repositories/${id}`, 'olivia')).status).toBe(404)
    const git = await createGitClient()
    const url = cloneUrl(emulator.url, 'acme/doomed', emulator.personalTokens['olivia'])
    expect((await git.run('ls-remote', url)).ok).toBe(false)
    await git.remove()
  })
})

describe('accounts', () => {
  test('a renamed organization keeps its id; its repositories are found under the old name, the organization only under the new one', async () => {
    const browser = await signIn(emulator, 'olivia')
    const settings = await browser.open(`${emulator.url}/organizations/acme/settings/profile`)
    await settings.form('Rename organization').submit({ login: 'acme-corp' })
    expect((await ask('/orgs/acme', 'olivia')).status).toBe(404)
    expect((await olivia.request('GET /orgs/{org}', { org: 'acme-corp' })).data.id).toBe(2001)
    expect((await olivia.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'shop' })).data.full_name).toBe(
      'acme-corp/shop',
    )
    const target = await webhook('installation_target', 'renamed')
    expect(target.payload).toMatchObject({
      account: { id: 2001, login: 'acme-corp' },
      changes: { login: { from: 'acme' } },
      target_type: 'Organization',
      installation: { id: installationId },
    })
    expect((await webhook('organization', 'renamed')).payload).toMatchObject({ organization: { id: 2001 } })
    await (await browser.open(`${emulator.url}/organizations/acme-corp/settings/profile`))
      .form('Rename organization')
      .submit({ login: 'acme' })
  })

  test('only an owner renames, and only to a name that is free and well-formed', async () => {
    const mia = await signIn(emulator, 'mia')
    expect((await mia.open(`${emulator.url}/organizations/acme/settings/profile`)).status).toBe(404)
    const own = async (login: string) =>
      (await mia.open(`${emulator.url}/settings/admin`)).form('Change username').submit({ login })
    for (const login of ['dave', 'ACME', 'a--b', '-a', 'a b', '']) expect((await own(login)).status).toBe(422)
    expect((await own('mia-two')).status).toBe(200)
    expect((await as('mia').request('GET /user')).data).toMatchObject({ id: 1003, login: 'mia-two' })
    await own('mia')
  })

  test('a former name of an account can be taken by another account', async () => {
    const { data: kept } = await as('gary').request('POST /user/repos', { name: 'thing', auto_init: true })
    const gary = await signIn(emulator, 'gary')
    await (await gary.open(`${emulator.url}/settings/admin`)).form('Change username').submit({ login: 'gareth' })
    expect((await as('gary').request('GET /repos/{owner}/{repo}', { owner: 'gary', repo: 'thing' })).data.id).toBe(kept.id)
    const noah = await signIn(emulator, 'noah')
    await (await noah.open(`${emulator.url}/settings/admin`)).form('Change username').submit({ login: 'gary' })
    const { data: taken } = await as('noah').request('POST /user/repos', { name: 'thing', auto_init: true })
    expect((await as('gary').request('GET /repos/{owner}/{repo}', { owner: 'gary', repo: 'thing' })).data.id).toBe(taken.id)
  })
})
