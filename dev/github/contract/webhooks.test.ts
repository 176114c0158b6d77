// Every webhook that the emulator sends, caused by requests of users and checked against GitHub's own description of its
// payload, in both forms. A webhook that is not listed must not be sent; each listed one must be sent.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { selectRepositories, setSuspended, uninstallApp } from '../actions/install-app.ts'
import { acceptPermissions, changeAppPermissions } from '../actions/installation-permissions.ts'
import { renameAccount } from '../actions/people/rename-account.ts'
import type { RunningEmulator } from '../emulator.ts'
import { cloneUrl, createGitClient, type GitClient } from '../testing/git-client.ts'
import { exchange } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClient, type RestClients } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'
import { checkWebhooks } from '../testing/webhook-schemas.ts'
import { subscribedEvents, webhookNames } from './webhook-events.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const shapes = [
  ['enterprise-server', 'ghes-3.19'],
  ['github.com', 'api.github.com'],
] as const

describe.each(shapes)('%s', (flavour, description) => {
  let emulator: RunningEmulator
  let receiver: WebhookReceiver
  let clients: RestClients
  let git: GitClient
  let olivia: RestClient
  let dave: RestClient
  let noah: RestClient
  let installationId: number
  const check = checkWebhooks(description)
  const shop = { owner: 'acme', repo: 'shop' }
  const acme = { org: 'acme' }

  beforeAll(async () => {
    receiver = await startWebhookReceiver()
    emulator = await startStockedEmulator({
      flavour,
      app: { webhookUrl: receiver.url, callbackUrls: ['http://127.0.0.1:9/callback'], setupUrl: 'http://127.0.0.1:9/setup' },
    })
    const [app] = emulator.context.state.apps
    if (!app) throw new Error('no App')
    app.events = subscribedEvents
    clients = createRestClients(emulator)
    const by = (login: string) => clients.by(emulator.personalTokens[login] ?? '')
    olivia = by('olivia')
    dave = by('dave')
    noah = by('noah')
    const browser = await signIn(emulator, 'olivia')
    browser.stops.push('http://127.0.0.1:9/')
    const end = await install(emulator, browser, 2001, { repositoryIds: [4001] })
    installationId = Number(new URL(end.url).searchParams.get('installation_id'))
    git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
  })
  afterAll(async () => {
    await git.remove()
    await emulator.stop()
    await receiver.close()
  })

  const app = () => {
    const [found] = emulator.context.state.apps
    if (!found) throw new Error('no App')
    return found
  }
  const installation = () => {
    const found = emulator.context.state.installations.find(one => one.id === installationId)
    if (!found) throw new Error('no installation')
    return found
  }
  const personOf = (id: number) => {
    const found = emulator.context.state.users.find(one => one.id === id)
    if (!found) throw new Error('no such person')
    return found
  }
  const organizationOf = (id: number) => {
    const found = emulator.context.state.organizations.find(one => one.id === id)
    if (!found) throw new Error('no such organization')
    return found
  }
  const push = async (branch: string, text: string): Promise<string> => {
    await git.run('checkout', '-B', branch)
    const sha = await git.commit(`${branch}.txt`, text, `On ${branch}`)
    await git.run('push', 'origin', `HEAD:${branch}`)
    return sha
  }
  const faults = async (): Promise<string[]> => {
    await emulator.context.webhooks.idle()
    return receiver.received.flatMap(one => check.faults(one.event, one.payload))
  }

  test('an installation: its repositories, suspension, new permissions', async () => {
    const { context } = emulator
    for (const repositoryIds of [[4001, 4002], [4001]])
      selectRepositories(context, installation(), 1001, { repositorySelection: 'selected', repositoryIds })
    for (const suspended of [true, false]) setSuspended(context, installation(), 1001, suspended)
    changeAppPermissions(emulator.context, app(), { ...app().permissions, issues: 'write' }, app().events)
    acceptPermissions(emulator.context, app(), installation(), 1001)
    installation().repositorySelection = 'all'
    expect(await faults()).toEqual([])
  })

  test('people: memberships, teams, collaborators', async () => {
    await olivia.request('PUT /orgs/{org}/memberships/{username}', { ...acme, username: 'noah' })
    await noah.request('PATCH /user/memberships/orgs/{org}', { ...acme, state: 'active' })
    const team = { ...acme, team_slug: 'testers' }
    await olivia.request('POST /orgs/{org}/teams', { ...acme, name: 'Testers', privacy: 'closed' })
    const { data: parent } = await olivia.request('GET /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'developers' })
    await olivia.request('PATCH /orgs/{org}/teams/{team_slug}', { ...team, description: 'They test', parent_team_id: parent.id })
    await olivia.request('PUT /orgs/{org}/teams/{team_slug}/memberships/{username}', { ...team, username: 'noah' })
    await olivia.request('DELETE /orgs/{org}/teams/{team_slug}/memberships/{username}', { ...team, username: 'noah' })
    await olivia.request('PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...team, ...shop, permission: 'push' })
    await olivia.request('PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...team, ...shop, permission: 'pull' })
    await olivia.request('DELETE /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...team, ...shop })
    await olivia.request('DELETE /orgs/{org}/teams/{team_slug}', team)
    const collaborator = { ...shop, username: 'noah' }
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...collaborator, permission: 'pull' })
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...collaborator, permission: 'push' })
    await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', collaborator)
    await olivia.request('DELETE /orgs/{org}/memberships/{username}', { ...acme, username: 'noah' })
    expect(await faults()).toEqual([])
  })

  test('pushes and pull requests with their comments', async () => {
    await push('topic', '1')
    const opened = await dave.request('POST /repos/{owner}/{repo}/pulls', {
      ...shop,
      title: 'One',
      head: 'topic',
      base: 'main',
      draft: true,
    })
    const pull_number = opened.data.number
    await push('topic', '2')
    await dave.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number, title: 'Uno', body: 'Because' })
    for (const state of ['closed', 'open'] as const)
      await dave.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number, state })
    await draft(pull_number, 'Ready for review')
    await draft(pull_number, 'Convert to draft')
    await draft(pull_number, 'Ready for review')
    const made = await dave.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...shop,
      issue_number: pull_number,
      body: 'Hi',
    })
    const comment_id = made.data.id
    const issue = { ...shop, issue_number: pull_number }
    await dave.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...issue, labels: ['preview'] })
    await dave.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', { ...issue, name: 'preview' })
    const review = { ...shop, pull_number, event: 'APPROVE' as const }
    await olivia.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', review)
    await dave.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...shop, comment_id, body: 'Ho' })
    await dave.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...shop, comment_id })
    await dave.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', { ...shop, pull_number })
    await git.run('push', 'origin', '--delete', 'topic')
    await git.run('tag', 'v1')
    await git.run('push', 'origin', 'v1')
    expect(await faults()).toEqual([])
  })

  /** GitHub offers this on the page and in GraphQL only. */
  const draft = async (number: number, button: string): Promise<void> => {
    const page = await (await signIn(emulator, 'dave')).open(`${emulator.url}/acme/shop/pull/${number}`)
    await page.form(button).submit()
  }

  test('statuses and deployments of a commit', async () => {
    const bot = clients.by(await clients.mint(installationId))
    const sha = await push('checked', '1')
    await bot.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...shop, sha, state: 'success', context: 'build' })
    const asked = { ...shop, ref: sha, environment: 'preview', required_contexts: [] }
    const { data: deployment } = await bot.request('POST /repos/{owner}/{repo}/deployments', asked)
    if (!('id' in deployment)) throw new Error('the deployment was not made')
    const at = { ...shop, deployment_id: Number(deployment.id) }
    await bot.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', { ...at, state: 'success' })
    expect(await faults()).toEqual([])
  })

  test('repositories from creation to deletion', async () => {
    const plan = { owner: 'acme', repo: 'plan' }
    await olivia.request('POST /orgs/{org}/repos', { ...acme, name: 'plan', private: true, auto_init: true })
    const change = (values: Readonly<Record<string, unknown>>) =>
      olivia.request('PATCH /repos/{owner}/{repo}', { ...plan, ...values })
    await change({ description: 'Another' })
    await change({ private: false })
    await change({ private: true })
    await change({ archived: true })
    await change({ archived: false })
    await olivia.request('POST /repos/{owner}/{repo}/forks', { ...shop, name: 'own-shop' })
    await change({ name: 'scheme' })
    const scheme = { owner: 'acme', repo: 'scheme' }
    await olivia.request('DELETE /repos/{owner}/{repo}', scheme)
    await olivia.request('POST /user/repos', { name: 'gift', private: true })
    await olivia.request('POST /repos/{owner}/{repo}/transfer', { owner: 'olivia', repo: 'gift', new_owner: 'acme' })
    expect(await faults()).toEqual([])
  })

  test('revoked consent', async () => {
    const { access_token } = await exchange(emulator, await signIn(emulator, 'dave'))
    const authorization = `Basic ${Buffer.from(`${emulator.app.clientId}:${emulator.app.clientSecret}`).toString('base64')}`
    await clients.anonymous.request('DELETE /applications/{client_id}/grant', {
      client_id: emulator.app.clientId,
      access_token,
      headers: { authorization },
    })
    expect(await faults()).toEqual([])
  })

  test('rename and uninstall', async () => {
    renameAccount(emulator.context, organizationOf(2001), personOf(1001), 'acme-two')
    uninstallApp(emulator.context, installation(), 1001)
    expect(await faults()).toEqual([])
  })

  test('each listed webhook was sent, and no other', async () => {
    await emulator.context.webhooks.idle()
    const seen = new Set(
      receiver.received.map(({ event, payload }) =>
        [event, ...(typeof payload['action'] === 'string' ? [payload['action']] : [])].join('.'),
      ),
    )
    expect([...seen].sort()).toEqual(webhookNames())
  })

  test('a payload with a missing or wrong field is detected', () => {
    const sound = receiver.received.find(one => one.event === 'push')?.payload
    if (!sound) throw new Error('no push came')
    const { after: _after, ...without } = sound
    expect(check.faults('push', without)).toEqual([expect.stringContaining('after')])
    expect(check.faults('push', { ...sound, ref: 7 })).toEqual([expect.stringContaining('/ref')])
    expect(check.faults('pushed', sound)).toEqual([`pushed is not an event of ${description}`])
  })

  test('each has the installation of the App, except those about the App itself', async () => {
    for (const { event, payload } of receiver.received) {
      if (event !== 'github_app_authorization') expect(payload['installation'], event).toMatchObject({ id: expect.any(Number) })
    }
  })
})
