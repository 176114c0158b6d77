// Organizations, teams and collaborators: who may change what, what is inherited, and which webhooks follow.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../../emulator.ts'
import { cloneUrl, createGitClient } from '../../testing/git-client.ts'
import { install, signIn } from '../../testing/people.ts'
import { createRestClients, type RestClient, type RestClients, refusal } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let olivia: RestClient
let app: RestClient
const acme = { org: 'acme' }
const plans = { owner: 'acme', repo: 'secret-plans' }

function as(login: string): RestClient {
  return clients.by(emulator.personalTokens[login] ?? '')
}

function webhook(event: string, action: string) {
  return receiver.waitFor(one => one.event === event && one.payload['action'] === action)
}

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({
    app: { webhookUrl: receiver.url, setupUrl: 'http://127.0.0.1:9/setup' },
  })
  clients = createRestClients(emulator)
  olivia = as('olivia')
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  app = clients.by(await clients.mint(Number(new URL(end.url).searchParams.get('installation_id'))))
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

describe('teams', () => {
  test('a member of a child team has the roles of the parent, on REST and git, and counts as a member of the parent', async () => {
    const { data: parent } = await olivia.request('POST /orgs/{org}/teams', { ...acme, name: 'Parent', privacy: 'closed' })
    const { data: child } = await olivia.request('POST /orgs/{org}/teams', { ...acme, name: 'Kid', parent_team_id: parent.id })
    const mia = { ...acme, username: 'mia' }
    await olivia.request('PUT /orgs/{org}/teams/{team_slug}/memberships/{username}', { ...mia, team_slug: child.slug })
    expect((await refusal(as('mia').request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
    const given = { ...acme, team_slug: parent.slug, ...plans, permission: 'maintain' }
    await olivia.request('PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', given)
    expect((await webhook('team', 'added_to_repository')).payload).toMatchObject({
      team: { id: parent.id },
      repository: { id: 4002 },
    })
    const asked = { ...plans, username: 'mia' }
    const { data } = await app.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', asked)
    expect(data).toMatchObject({ permission: 'write', role_name: 'maintain' })
    const ofParent = { ...acme, team_slug: parent.slug }
    expect((await app.request('GET /orgs/{org}/teams/{team_slug}/members', ofParent)).data.map(one => one.login)).toEqual(['mia'])
    const git = await createGitClient()
    await git.run('clone', cloneUrl(emulator.url, 'acme/secret-plans', emulator.personalTokens['mia']), '.')
    await git.commit('x', '1', 'X')
    expect(await git.run('push', 'origin', 'HEAD:mia')).toMatchObject({ ok: true })
    await olivia.request('DELETE /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', given)
    await webhook('team', 'removed_from_repository')
    expect((await git.run('fetch')).ok).toBe(false)
    await git.remove()
  })

  test('a team below itself, a name in use and a secret team in a tree are refused', async () => {
    const { data: parent } = await app.request('GET /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'parent' })
    const { data: child } = await app.request('GET /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'kid' })
    const change = (parameters: Record<string, unknown>) =>
      refusal(olivia.request('PATCH /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'parent', ...parameters }))
    expect((await change({ parent_team_id: child.id })).status).toBe(422)
    expect((await change({ name: 'Developers' })).status).toBe(422)
    const secret = { ...acme, name: 'Secret', privacy: 'secret' as const, parent_team_id: parent.id }
    expect((await refusal(olivia.request('POST /orgs/{org}/teams', secret))).status).toBe(422)
  })

  test('deleting a team deletes the teams below it', async () => {
    await olivia.request('DELETE /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'parent' })
    const { data } = await app.request('GET /orgs/{org}/teams', acme)
    expect(data.map(one => one.slug)).toEqual(['developers'])
  })

  test('only an owner, or an App that may write, can change a team', async () => {
    for (const client of [as('dave'), as('gary'), app]) {
      expect((await refusal(client.request('POST /orgs/{org}/teams', { ...acme, name: 'Mine' }))).status).toBe(403)
    }
    const team = { ...acme, team_slug: 'developers' }
    expect((await refusal(as('gary').request('GET /orgs/{org}/teams/{team_slug}', team))).status).toBe(403)
  })
})

describe('members', () => {
  test('an invited person is pending and has no access; accepting makes them a member', async () => {
    const noah = { ...acme, username: 'noah' }
    await olivia.request('PUT /orgs/{org}/memberships/{username}', { ...noah, role: 'admin' })
    expect((await webhook('organization', 'member_invited')).payload).toMatchObject({ user: { login: 'noah' } })
    expect((await app.request('GET /orgs/{org}/memberships/{username}', noah)).data).toMatchObject({
      state: 'pending',
      role: 'admin',
    })
    expect((await refusal(as('noah').request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
    await as('noah').request('PATCH /user/memberships/orgs/{org}', { ...acme, state: 'active' })
    await webhook('organization', 'member_added')
    expect((await as('noah').request('GET /repos/{owner}/{repo}', plans)).status).toBe(200)
    await olivia.request('DELETE /orgs/{org}/memberships/{username}', noah)
    await webhook('organization', 'member_removed')
    expect((await refusal(as('noah').request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
  })

  test('the last owner can neither leave nor be demoted to member', async () => {
    const own = { ...acme, username: 'olivia' }
    expect((await refusal(olivia.request('DELETE /orgs/{org}/memberships/{username}', own))).status).toBe(403)
    expect((await refusal(olivia.request('PUT /orgs/{org}/memberships/{username}', { ...own, role: 'member' }))).status).toBe(403)
  })
})

describe('collaborators', () => {
  test('an outside person sees nothing at first, has the role at once, and loses everything by removal', async () => {
    const asked = { ...plans, username: 'noah', permission: 'pull' }
    const noah = as('noah')
    expect((await refusal(noah.request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked)
    expect((await webhook('member', 'added')).payload).toMatchObject({ member: { login: 'noah' }, repository: { id: 4002 } })
    expect((await noah.request('GET /repos/{owner}/{repo}', plans)).data.permissions).toMatchObject({ pull: true, push: false })
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...asked, permission: 'admin' })
    await webhook('member', 'edited')
    await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', asked)
    await webhook('member', 'removed')
    expect((await refusal(noah.request('GET /repos/{owner}/{repo}', plans))).status).toBe(404)
  })

  test('only an administrator of the repository can add a collaborator', async () => {
    const asked = { owner: 'acme', repo: 'shop', username: 'noah' }
    expect((await refusal(as('dave').request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked))).status).toBe(403)
    expect((await refusal(app.request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked))).status).toBe(403)
    expect((await refusal(as('mia').request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked))).status).toBe(404)
    expect((await refusal(as('gary').request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked))).status).toBe(404)
  })
})
