// Installation tokens: what can be requested, what they permit on REST and git, and when they end.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { installationById } from '../state/github-state.ts'
import { cloneUrl, createGitClient } from '../testing/git-client.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { setSuspended } from './install-app.ts'

let emulator: RunningEmulator
let clients: RestClients
let acme: number
let globex: number
let clock = Date.parse('2026-01-01T00:00:00Z')
const shop = { owner: 'acme', repo: 'shop' }
const plans = { owner: 'acme', repo: 'secret-plans' }

async function installed(login: string, accountId: number, repositoryIds: readonly number[] | 'all'): Promise<number> {
  const browser = await signIn(emulator, login)
  browser.stops.push('http://127.0.0.1:9/')
  return Number(new URL((await install(emulator, browser, accountId, { repositoryIds })).url).searchParams.get('installation_id'))
}

beforeAll(async () => {
  clock = Date.now()
  emulator = await startStockedEmulator({ app: { setupUrl: 'http://127.0.0.1:9/setup' }, now: () => clock })
  clients = createRestClients(emulator)
  acme = await installed('olivia', 2001, 'all')
  globex = await installed('gary', 2002, [4003])
})
afterAll(() => emulator.stop())

function mint(installation_id: number, parameters: Record<string, unknown>) {
  return clients.app.request('POST /app/installations/{installation_id}/access_tokens', { installation_id, ...parameters })
}

async function minted(parameters: Record<string, unknown>) {
  return clients.by((await mint(acme, parameters)).data.token)
}

const tooWide = { status: 422, message: 'The permissions requested are not granted to this installation.' }
const unknownRepository = {
  status: 422,
  message: 'There is at least one repository that does not exist or is not accessible to the parent installation.',
}

describe('what can be requested', () => {
  test('a narrowed request gets exactly its repositories and permissions, and metadata', async () => {
    const { data } = await mint(acme, { repository_ids: [4001], permissions: { contents: 'read' } })
    expect(data).toMatchObject({ repository_selection: 'selected', permissions: { contents: 'read', metadata: 'read' } })
    expect(Object.keys(data.permissions ?? {}).sort()).toEqual(['contents', 'metadata'])
    expect(data.repositories?.map(one => one.id)).toEqual([4001])
    expect(Date.parse(data.expires_at)).toBe(Math.floor((clock + 3_600_000) / 1000) * 1000)
  })

  test('a request without repositories, or with an empty list, gets all repositories of the installation', async () => {
    for (const parameters of [{}, { repository_ids: [] }, { repositories: [] }]) {
      const { data } = await mint(acme, parameters)
      expect(data.repository_selection).toBe('all')
      expect(data.repositories).toBeUndefined()
    }
  })

  test.each([
    ['the id of a repository of another installation', { repository_ids: [4003] }],
    ['an unknown id', { repository_ids: [1] }],
    ['one good and one unknown id', { repository_ids: [4001, 1] }],
    ['an unknown name', { repositories: ['contents'] }],
  ])('%s is refused', async (_what, parameters) => {
    expect(await refusal(mint(acme, parameters))).toEqual(unknownRepository)
  })

  test.each([
    ['more than the installation has', { members: 'write' }],
    ['an unknown permission', { everything: 'read' }],
    ['the level admin', { contents: 'admin' }],
  ])('%s is refused', async (_what, permissions) => {
    expect(await refusal(mint(acme, { permissions }))).toEqual(tooWide)
  })

  test('ids as text, levels that do not exist, and more than 500 repositories are refused', async () => {
    expect((await refusal(mint(acme, { repository_ids: ['4001'] }))).status).toBe(422)
    expect((await refusal(mint(acme, { permissions: { contents: 'everything' } }))).status).toBe(422)
    expect((await refusal(mint(acme, { repository_ids: Array.from({ length: 501 }, () => 4001) }))).status).toBe(422)
  })

  test('an installation that is unknown or that belongs to another App is 404', async () => {
    expect((await refusal(mint(1, {}))).status).toBe(404)
  })
})

describe('what a token permits', () => {
  test('its repository and no other', async () => {
    const client = await minted({ repository_ids: [4001], permissions: { contents: 'read' } })
    expect((await client.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: 'main' })).status).toBe(200)
    expect((await refusal(client.request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
    expect((await refusal(client.request('GET /repositories/4003'))).status).toBe(404)
    expect((await client.request('GET /installation/repositories')).data.repositories.map(one => one.id)).toEqual([4001])
  })

  test('its permissions and no other', async () => {
    const client = await minted({ repository_ids: [4001], permissions: { contents: 'read' } })
    const integration = { status: 403, message: 'Resource not accessible by integration' }
    expect(await refusal(client.request('GET /repos/{owner}/{repo}/pulls', shop))).toEqual(integration)
    expect(await refusal(client.request('GET /orgs/{org}/members', { org: 'acme' }))).toEqual(integration)
    const status = { ...shop, sha: 'a'.repeat(40), state: 'success' as const }
    expect(await refusal(client.request('POST /repos/{owner}/{repo}/statuses/{sha}', status))).toEqual(integration)
    expect(await refusal(client.request('GET /user'))).toEqual(integration)
  })

  test('reading does not allow writing, on REST and on git', async () => {
    const token = (await mint(acme, { repository_ids: [4001], permissions: { contents: 'read', deployments: 'read' } })).data
      .token
    const create = clients.by(token).request('POST /repos/{owner}/{repo}/deployments', { ...shop, ref: 'main' })
    expect((await refusal(create)).status).toBe(403)
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', token), '.')
    await git.commit('x', 'x', 'X')
    expect((await git.run('push', 'origin', 'HEAD:main')).stderr).toContain('403')
    await git.remove()
  })

  test('a token with contents: write pushes as the bot of the App', async () => {
    const token = (await mint(acme, { repository_ids: [4001], permissions: { contents: 'write' } })).data.token
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', token), '.')
    await git.commit('bot.txt', 'x', 'By the bot')
    expect(await git.run('push', 'origin', 'HEAD:bot')).toMatchObject({ ok: true })
    await git.remove()
  })

  test('nothing in another organization', async () => {
    const client = clients.by((await mint(globex, {})).data.token)
    expect((await refusal(client.request('GET /repos/{owner}/{repo}', shop))).status).toBe(404)
    expect((await refusal(client.request('GET /orgs/{org}/members', { org: 'acme' }))).status).toBe(403)
  })
})

describe('when a token ends', () => {
  test('it revokes itself, and only itself', async () => {
    const [first, second] = [await minted({}), await minted({})]
    expect((await first.request('DELETE /installation/token')).status).toBe(204)
    expect(await refusal(first.request('GET /installation/repositories'))).toEqual({ status: 401, message: 'Bad credentials' })
    expect((await second.request('GET /installation/repositories')).status).toBe(200)
  })

  test('after one hour', async () => {
    const client = await minted({})
    clock += 3_599_000
    expect((await client.request('GET /installation/repositories')).status).toBe(200)
    clock += 1000
    expect((await refusal(client.request('GET /installation/repositories'))).status).toBe(401)
    clock = Date.now()
  })

  test('a suspended installation refuses its tokens and mints none, until it is unsuspended', async () => {
    const client = await minted({})
    const suspend = (suspended: boolean) => {
      const installation = installationById(emulator.context.state, acme)
      if (!installation) throw new Error('no installation')
      setSuspended(emulator.context, installation, 1001, suspended)
    }
    const suspended = { status: 403, message: 'This installation has been suspended' }
    suspend(true)
    expect(await refusal(client.request('GET /installation/repositories'))).toEqual(suspended)
    expect(await refusal(mint(acme, {}))).toEqual(suspended)
    suspend(false)
    expect((await client.request('GET /installation/repositories')).status).toBe(200)
  })

  test('tokens lose a repository that is removed from the installation', async () => {
    const client = await minted({ repository_ids: [4001, 4002] })
    const olivia = await signIn(emulator, 'olivia')
    const settings = await olivia.open(`${emulator.url}/settings/installations/${acme}`)
    await settings.form('Save').submit({ repository_selection: 'selected', repository_ids: '4001' })
    expect((await refusal(client.request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
    expect((await client.request('GET /repos/{owner}/{repo}', shop)).status).toBe(200)
    await (await olivia.open(`${emulator.url}/settings/installations/${acme}`))
      .form('Save')
      .submit({ repository_selection: 'all' })
  })

  test('uninstalling an App ends all its tokens', async () => {
    const client = clients.by((await mint(globex, {})).data.token)
    const gary = await signIn(emulator, 'gary')
    await (await gary.open(`${emulator.url}/settings/installations/${globex}`)).form('Uninstall').submit()
    expect((await refusal(client.request('GET /installation/repositories'))).status).toBe(401)
    expect((await refusal(mint(globex, {}))).status).toBe(404)
  })
})

describe('the two formats', () => {
  test('a short token has 40 characters', async () => {
    expect((await mint(acme, {})).data.token).toMatch(/^ghs_[0-9A-Za-z]{36}$/)
  })

  test('a stateless token has about 520 characters with dots, works everywhere and can be revoked', async () => {
    const headers = { 'x-github-stateless-s2s-token': 'enabled' }
    const { token } = (await mint(acme, { repository_ids: [4001], permissions: { contents: 'read' }, headers })).data
    expect(token).toMatch(/^ghs_5001_[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(token.length).toBeGreaterThan(480)
    expect(token.length).toBeLessThan(560)
    const git = await createGitClient()
    expect(await git.run('ls-remote', cloneUrl(emulator.url, 'acme/shop', token))).toMatchObject({ ok: true })
    await git.remove()
    await clients.by(token).request('DELETE /installation/token')
    expect((await refusal(clients.by(token).request('GET /installation/repositories'))).status).toBe(401)
  })
})

test('with the fault wider-token a token permits more than requested, and its description says so', async () => {
  emulator.context.faults.arm({ kind: 'wider-token' }, 1)
  const asked = { repository_ids: [4001], permissions: { contents: 'read' } }
  expect((await mint(acme, asked)).data).toMatchObject({ repository_selection: 'all', permissions: { contents: 'write' } })
  expect((await mint(acme, asked)).data).toMatchObject({ repository_selection: 'selected', permissions: { contents: 'read' } })
})
