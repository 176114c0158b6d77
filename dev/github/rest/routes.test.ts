// Calls every REST route once with success through an Octokit client; each response is checked against GitHub's OpenAPI
// description.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { exercisePeople } from '../testing/exercises/people.ts'
import { exerciseRepositoryLife } from '../testing/exercises/repository-life.ts'
import { cloneUrl, createGitClient } from '../testing/git-client.ts'
import { exchange } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClient, type RestClients } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'
import { restRoutes } from './routes.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const shapes = [
  ['enterprise-server', '/api/v3'],
  ['github.com', '/api.github.com'],
] as const

describe.each(shapes)('%s with REST under %s', (flavour, restPrefix) => {
  let emulator: RunningEmulator
  let receiver: WebhookReceiver
  let clients: RestClients
  let bot: RestClient
  let olivia: RestClient
  let installationId: number
  let head: string
  const repo = { owner: 'acme', repo: 'shop' }

  beforeAll(async () => {
    receiver = await startWebhookReceiver()
    emulator = await startStockedEmulator({
      flavour,
      restPrefix,
      app: { webhookUrl: receiver.url, callbackUrls: ['http://127.0.0.1:9/callback'], setupUrl: 'http://127.0.0.1:9/setup' },
    })
    clients = createRestClients(emulator)
    const browser = await signIn(emulator, 'olivia')
    browser.stops.push('http://127.0.0.1:9/')
    const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
    installationId = Number(new URL(end.url).searchParams.get('installation_id'))
    bot = clients.by(await clients.mint(installationId))
    olivia = clients.by((await exchange(emulator, browser)).access_token)
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
    await git.run('checkout', '-b', 'feature/one')
    head = await git.commit('one.txt', '1\n', 'One')
    await git.run('push', 'origin', 'HEAD')
    await git.run('checkout', '-b', 'feature/two')
    await git.commit('two.txt', '2\n', 'Two')
    await git.run('push', 'origin', 'HEAD')
    await git.remove()
  })
  afterAll(async () => {
    await emulator.stop()
    await receiver.close()
  })

  test('the service itself', async () => {
    await clients.anonymous.request('GET /meta')
    const { data } = await bot.request('GET /rate_limit')
    expect(data.rate.limit).toBe(5000)
  })

  test('the App', async () => {
    expect((await clients.app.request('GET /app')).data).toMatchObject({ id: 5001, slug: 'sekisho-dev' })
    await clients.app.request('GET /app/installations/{installation_id}', { installation_id: installationId })
    expect((await clients.app.request('GET /app/installations', { per_page: 100 })).data.map(one => one.id)).toEqual([
      installationId,
    ])
  })

  test('installations of a person', async () => {
    const { data } = await olivia.request('GET /user/installations')
    expect(data).toMatchObject({ total_count: 1, installations: [{ id: installationId, app_id: 5001, suspended_at: null }] })
    const seen = await olivia.request('GET /user/installations/{installation_id}/repositories', {
      installation_id: installationId,
    })
    expect(seen.data.repositories.map(one => one.name)).toEqual(['shop', 'secret-plans'])
  })

  test('the webhook of the App', async () => {
    await receiver.waitFor(one => one.event === 'installation')
    await emulator.context.webhooks.idle()
    expect((await clients.app.request('GET /app/hook/config')).data).toMatchObject({ content_type: 'json' })
    const asForm = await clients.app.request('PATCH /app/hook/config', { content_type: 'form' })
    expect(asForm.data).toMatchObject({ content_type: 'form' })
    await clients.app.request('PATCH /app/hook/config', { content_type: 'json' })
    const { data } = await clients.app.request('GET /app/hook/deliveries', { per_page: 1 })
    const [first] = data
    if (!first) throw new Error('no delivery')
    await clients.app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: Number(first.id) })
    await clients.app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(first.id) })
  })

  test('users and organizations', async () => {
    expect((await olivia.request('GET /user')).data).toMatchObject({ id: 1001, login: 'olivia' })
    expect((await olivia.request('GET /user/orgs')).data.map(one => one.id)).toEqual([2001])
    expect((await olivia.request('GET /user/memberships/orgs/{org}', { org: 'acme' })).data).toMatchObject({
      role: 'admin',
      state: 'active',
    })
    expect((await bot.request('GET /user/{account_id}', { account_id: 1002 })).data.login).toBe('dave')
    await bot.request('GET /orgs/{org}', { org: 'acme' })
    expect((await bot.request('GET /orgs/{org}/memberships/{username}', { org: 'acme', username: 'mia' })).data.role).toBe(
      'member',
    )
    expect((await bot.request('GET /orgs/{org}/members', { org: 'acme', role: 'admin' })).data.map(one => one.login)).toEqual([
      'olivia',
    ])
  })

  test('teams', async () => {
    const team = { org: 'acme', team_slug: 'developers' }
    const dave = clients.by(emulator.personalTokens['dave'] ?? '')
    expect((await dave.request('GET /user/teams')).data.map(one => [one.id, one.organization.id])).toEqual([[3001, 2001]])
    await bot.request('GET /orgs/{org}/teams', { org: 'acme' })
    await bot.request('GET /orgs/{org}/teams/{team_slug}', team)
    expect((await bot.request('GET /organizations/2001/team/3001')).data).toMatchObject({ id: 3001, organization: { id: 2001 } })
    await expect(bot.request('GET /organizations/2001/team/3999')).rejects.toMatchObject({ status: 404 })
    expect((await bot.request('GET /orgs/{org}/teams/{team_slug}/members', team)).data.map(one => one.login)).toEqual(['dave'])
    await bot.request('GET /orgs/{org}/teams/{team_slug}/memberships/{username}', { ...team, username: 'dave' })
  })

  test('repositories, branches and commits', async () => {
    expect((await bot.request('GET /installation/repositories')).data.total_count).toBe(2)
    expect((await bot.request('GET /repos/{owner}/{repo}', repo)).data.id).toBe(4001)
    await bot.request('GET /repositories/4001')
    const asked = await bot.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
      ...repo,
      username: 'dave',
    })
    expect(asked.data).toMatchObject({ permission: 'write', role_name: 'write' })
    expect(
      (await bot.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...repo, branch: 'feature/one' })).data.commit.sha,
    ).toBe(head)
    expect((await bot.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...repo, ref: 'feature/one' })).data.sha).toBe(head)
    const plain = await bot.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { ...repo, commit_sha: head })
    expect(plain.data).toMatchObject({ sha: head, tree: { sha: expect.stringMatching(/^[0-9a-f]{40}$/) } })
    const compare = async (basehead: string) =>
      (await bot.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...repo, basehead })).data.status
    expect(await compare(`main...${head}`)).toBe('ahead')
    expect(await compare(`${head}...main`)).toBe('behind')
    expect(await compare(`${head}...feature/one`)).toBe('identical')
    const { data: heads } = await bot.request('GET /repos/{owner}/{repo}/commits/{commit_sha}/branches-where-head', {
      ...repo,
      commit_sha: head,
    })
    expect(heads.map(one => one.name)).toEqual(['feature/one'])
  })

  test('joining and leaving, and new repositories', async () => {
    const person = clients.by(emulator.personalTokens['olivia'] ?? '')
    const noah = clients.by(emulator.personalTokens['noah'] ?? '')
    const member = { org: 'acme', username: 'noah' }
    const team = { ...member, team_slug: 'developers' }
    expect((await person.request('PUT /orgs/{org}/memberships/{username}', member)).data.state).toBe('pending')
    expect((await noah.request('PATCH /user/memberships/orgs/{org}', { org: 'acme', state: 'active' })).data.state).toBe('active')
    await person.request('PUT /orgs/{org}/teams/{team_slug}/memberships/{username}', team)
    await person.request('DELETE /orgs/{org}/teams/{team_slug}/memberships/{username}', team)
    await person.request('DELETE /orgs/{org}/memberships/{username}', member)
    expect(
      (await person.request('POST /orgs/{org}/repos', { org: 'acme', name: 'new', private: true, auto_init: true })).data
        .full_name,
    ).toBe('acme/new')
    // A member makes one and administers it; who is not a member does not.
    const dave = clients.by(emulator.personalTokens['dave'] ?? '')
    const mine = await dave.request('POST /orgs/{org}/repos', { org: 'acme', name: 'daves', private: true })
    expect(mine.data.permissions?.admin).toBe(true)
    await expect(noah.request('POST /orgs/{org}/repos', { org: 'acme', name: 'noahs' })).rejects.toMatchObject({ status: 403 })
    expect((await noah.request('POST /user/repos', { name: 'own' })).data.full_name).toBe('noah/own')
  })

  test('pull requests and comments', async () => {
    const opened = await bot.request('POST /repos/{owner}/{repo}/pulls', {
      ...repo,
      title: 'One',
      head: 'feature/one',
      base: 'main',
    })
    const pull_number = opened.data.number
    expect(opened.data).toMatchObject({ mergeable: null, commits: 1, additions: 1, user: { login: 'sekisho-dev[bot]' } })
    await bot.request('GET /repos/{owner}/{repo}/pulls', repo)
    await bot.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...repo, pull_number })
    await bot.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...repo, pull_number, title: 'Uno' })
    const issue = { ...repo, issue_number: pull_number }
    await bot.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...issue, labels: ['preview', 'later'] })
    const left = await bot.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
      ...issue,
      name: 'later',
    })
    expect(left.data.map(one => one.name)).toEqual(['preview'])
    const reviews = { ...repo, pull_number }
    const dave = clients.by(emulator.personalTokens['dave'] ?? '')
    await dave.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...reviews, event: 'APPROVE' })
    expect((await bot.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', reviews)).data).toMatchObject([
      { state: 'APPROVED', commit_id: head, user: { login: 'dave' } },
    ])
    const comment = await bot.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...repo,
      issue_number: pull_number,
      body: 'Hi',
    })
    const comment_id = comment.data.id
    await bot.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...repo, issue_number: pull_number })
    await bot.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...repo, comment_id })
    await bot.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...repo, comment_id, body: 'Ho' })
    await bot.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...repo, comment_id })
    const merged = await bot.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', { ...repo, pull_number })
    expect((await bot.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...repo, branch: 'main' })).data.commit.sha).toBe(
      merged.data.sha,
    )
  })

  test('statuses and deployments', async () => {
    await bot.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...repo, sha: head, state: 'success', context: 'build' })
    await bot.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', { ...repo, ref: head })
    expect((await bot.request('GET /repos/{owner}/{repo}/commits/{ref}/status', { ...repo, ref: head })).data.state).toBe(
      'success',
    )
    const made = await bot.request('POST /repos/{owner}/{repo}/deployments', {
      ...repo,
      ref: head,
      environment: 'preview',
      required_contexts: [],
    })
    if (made.status !== 201) throw new Error('not created')
    const deployment_id = Number(made.data.id)
    await bot.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
      ...repo,
      deployment_id,
      state: 'success',
      environment_url: 'http://shop.localhost',
    })
    await bot.request('GET /repos/{owner}/{repo}/deployments', repo)
    await bot.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}', { ...repo, deployment_id })
    await bot.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', { ...repo, deployment_id })
    await bot.request('DELETE /repos/{owner}/{repo}/deployments/{deployment_id}', { ...repo, deployment_id })
    const olivia = clients.by(emulator.personalTokens['olivia'] ?? '')
    const environment = { ...repo, environment_name: 'preview' }
    await olivia.request('DELETE /repos/{owner}/{repo}/environments/{environment_name}', environment)
  })

  const participants = () => ({ emulator, clients })
  test('teams and collaborators', () => exercisePeople(participants()))
  test('the life of a repository', () => exerciseRepositoryLife(participants()))

  test('revoking tokens and consent', async () => {
    const browser = await signIn(emulator, 'olivia')
    browser.stops.push('http://127.0.0.1:9/')
    await bot.request('DELETE /installation/token')
    const { access_token } = await exchange(emulator, browser)
    const authorization = `Basic ${Buffer.from(`${emulator.app.clientId}:${emulator.app.clientSecret}`).toString('base64')}`
    const client = { client_id: emulator.app.clientId, access_token, headers: { authorization } }
    expect((await clients.anonymous.request('POST /applications/{client_id}/token', client)).data.user?.login).toBe('olivia')
    await clients.anonymous.request('DELETE /applications/{client_id}/token', client)
    const again = { ...client, access_token: (await exchange(emulator, browser)).access_token }
    await clients.anonymous.request('DELETE /applications/{client_id}/grant', again)
  })

  test('every route was called', () => {
    const all = restRoutes.map(route => `${route.method} ${route.path}`)
    expect(all.filter(route => !clients.succeeded.has(route))).toEqual([])
  })
})
