// Checks for two Apps and for users: who owns them, when they are requested, and what the pages show.
import { Octokit } from '@octokit/core'
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installApp } from '../../actions/install-app.ts'
import { mintInstallationToken } from '../../actions/mint-installation-token.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { defaultSeed } from '../../seed/default-seed.ts'
import { appById } from '../../state/github-state.ts'
import { cloneUrl, createGitClient, type GitClient } from '../../testing/git-client.ts'
import { signIn } from '../../testing/people.ts'
import { createRestClients, type RestClient, type RestClients, refusal } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'

const Client = Octokit.plugin(restEndpointMethods)
const shop = { owner: 'acme', repo: 'shop' }
const everything = { repositorySelection: 'all', repositoryIds: [] } as const
const events = ['push', 'check_run', 'check_suite', 'status', 'deployment', 'deployment_status']
let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let first: InstanceType<typeof Client>
let second: RestClient
let git: GitClient

function tokenOf(appId: number): string {
  const { context } = emulator
  const app = appById(context.state, appId)
  if (!app) throw new Error('no such App')
  const installation = installApp(context, app, { accountId: 2001, installerId: 1001, ...everything })
  const request = { repositories: undefined, repositoryIds: undefined, permissions: undefined, format: 'short' } as const
  return mintInstallationToken(context, app, installation, request).token
}

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const [app] = defaultSeed.apps
  if (!app) throw new Error('the seed has no App')
  const other = { ...app, id: 5002, botId: 1902, slug: 'other-ci', name: 'Other CI' }
  emulator = await startStockedEmulator({
    seed: { ...defaultSeed, apps: [{ ...app, events }, other] },
    app: { webhookUrl: receiver.url },
  })
  clients = createRestClients(emulator)
  first = new Client({ baseUrl: emulator.apiUrl, auth: tokenOf(5001) })
  second = clients.by(tokenOf(5002))
  git = await createGitClient()
  await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
})
afterAll(async () => {
  await git.remove()
  await emulator.stop()
  await receiver.close()
})

async function push(name: string): Promise<string> {
  const sha = await git.commit(name, '1', name)
  await git.run('push', 'origin', 'HEAD')
  return sha
}

function webhook(event: string, action: string) {
  return receiver.waitFor(one => one.event === event && one.payload['action'] === action)
}

describe('a push', () => {
  test('requests a suite from each App that may write checks', async () => {
    const head_sha = await push('asked')
    const asked = await webhook('check_suite', 'requested')
    expect(asked.payload).toMatchObject({ check_suite: { head_sha, head_branch: 'main', status: 'queued', app: { id: 5001 } } })
    const suites = emulator.context.state.checkSuites.filter(one => one.headSha === head_sha)
    expect(suites.map(one => one.appId).sort()).toEqual([5001, 5002])
  })
})

describe('a run', () => {
  test('goes from queued to completed, and the suite is done when its last run is', async () => {
    const head_sha = await push('run')
    const build = await first.rest.checks.create({ ...shop, head_sha, name: 'build' })
    const lint = await first.rest.checks.create({ ...shop, head_sha, name: 'lint', status: 'in_progress' })
    expect([build.data.status, lint.data.status, lint.data.check_suite?.id]).toEqual([
      'queued',
      'in_progress',
      build.data.check_suite?.id,
    ])
    await first.rest.checks.update({ ...shop, check_run_id: Number(build.data.id), conclusion: 'success' })
    const completed = () => receiver.received.filter(one => one.event === 'check_suite' && one.payload['action'] === 'completed')
    await emulator.context.webhooks.idle()
    expect(completed().filter(one => one.body.includes(head_sha))).toEqual([])
    await first.rest.checks.update({ ...shop, check_run_id: Number(lint.data.id), conclusion: 'failure' })
    expect((await webhook('check_run', 'completed')).payload).toMatchObject({
      check_run: { name: 'build', conclusion: 'success' },
    })
    const done = await receiver.waitFor(
      one =>
        one.event === 'check_suite' && one.payload['action'] === 'completed' && JSON.stringify(one.payload).includes(head_sha),
    )
    expect(done.payload).toMatchObject({ check_suite: { status: 'completed', conclusion: 'failure' } })
  })

  test('that is created again with the same name replaces the earlier one', async () => {
    const head_sha = await push('again')
    for (const conclusion of ['failure', 'success'] as const)
      await first.rest.checks.create({ ...shop, head_sha, name: 'test', conclusion })
    const list = { ...shop, ref: head_sha, check_name: 'test' }
    expect((await first.rest.checks.listForRef(list)).data.check_runs.map(one => one.conclusion)).toEqual(['success'])
    expect((await first.rest.checks.listForRef({ ...list, filter: 'all' })).data.total_count).toBe(2)
  })

  test('belongs to its App: no other App and no person can change it; a person cannot create one', async () => {
    const head_sha = await push('mine')
    const { data: run } = await first.rest.checks.create({ ...shop, head_sha, name: 'mine' })
    const change = { ...shop, check_run_id: run.id, conclusion: 'success' as const }
    expect((await refusal(second.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', change))).status).toBe(403)
    const dave = clients.by(emulator.personalTokens['dave'] ?? '')
    expect((await refusal(dave.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', change))).status).toBe(403)
    const made = { ...shop, head_sha, name: 'by hand' }
    expect((await refusal(dave.request('POST /repos/{owner}/{repo}/check-runs', made))).status).toBe(403)
    expect((await dave.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', change)).data.conclusion).toBeNull()
    const noah = clients.by(emulator.personalTokens['noah'] ?? '')
    expect((await refusal(noah.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', change))).status).toBe(404)
  })

  test('needs a commit, and a conclusion to complete', async () => {
    const head_sha = await push('wrong')
    const create = (parameters: Record<string, unknown>) =>
      refusal(second.request('POST /repos/{owner}/{repo}/check-runs', { ...shop, head_sha, name: 'x', ...parameters }))
    expect((await create({ head_sha: 'f'.repeat(40) })).status).toBe(422)
    expect((await create({ status: 'completed' })).status).toBe(422)
    expect((await create({ conclusion: 'splendid' })).status).toBe(422)
  })
})

test('statuses and deployments are sent to subscribers, and shown on the page of the commit', async () => {
  const sha = await push('reported')
  await first.rest.repos.createCommitStatus({ ...shop, sha, state: 'pending', context: 'ci', description: 'Wait' })
  const status = await receiver.waitFor(one => one.event === 'status')
  expect(status.payload).toMatchObject({ sha, state: 'pending', context: 'ci', branches: [{ name: 'main' }] })
  const { data } = await first.rest.repos.createDeployment({ ...shop, ref: sha, environment: 'preview', required_contexts: [] })
  const deployment_id = 'id' in data ? Number(data.id) : 0
  expect((await webhook('deployment', 'created')).payload).toMatchObject({ deployment: { id: deployment_id } })
  await first.rest.repos.createDeploymentStatus({ ...shop, deployment_id, state: 'success' })
  expect((await webhook('deployment_status', 'created')).payload).toMatchObject({ deployment_status: { state: 'success' } })
  await first.rest.checks.create({
    ...shop,
    head_sha: sha,
    name: 'shown',
    conclusion: 'success',
    output: { title: 'All well', summary: '' },
  })
  const page = await (await signIn(emulator, 'dave')).open(`${emulator.url}/acme/shop/commit/${sha}`)
  expect(page.text).toContain('All well')
  expect(page.text).toContain('Sekisho (development)')
  const link = /href="([^"]*\/runs\/\d+)"/.exec(page.text)?.[1] ?? ''
  const run = await (await signIn(emulator, 'dave')).open(new URL(link, emulator.url).toString())
  expect(run.text).toContain('<strong>success</strong>: All well')
})

test('an administrator deletes an environment: its deployments stay, and the next one makes it again', async () => {
  const ref = await push('environment')
  const about = { ...shop, ref, environment: 'preview/shop', required_contexts: [] }
  const { data } = await first.rest.repos.createDeployment(about)
  const deployment_id = 'id' in data ? Number(data.id) : expect.fail('no deployment was made')
  const names = () => emulator.context.state.environments.map(({ name }) => name)
  const remove = (octokit: Pick<typeof first, 'request'>) =>
    octokit.request('DELETE /repos/{owner}/{repo}/environments/{environment_name}', { ...shop, environment_name: 'preview/shop' })
  const olivia = clients.by(emulator.personalTokens['olivia'] ?? '')
  expect(await refusal(remove(first))).toMatchObject({ status: 403 })
  expect(names()).toContain('preview/shop')
  expect((await remove(olivia)).status).toBe(204)
  expect(names()).not.toContain('preview/shop')
  expect(await refusal(remove(olivia))).toMatchObject({ status: 404 })
  expect((await first.rest.repos.createDeploymentStatus({ ...shop, deployment_id, state: 'success' })).status).toBe(201)
  await first.rest.repos.createDeployment(about)
  expect(names()).toContain('preview/shop')
})

test('a success ends earlier successes in its environment, but none that is transient or later, and none when asked not to', async () => {
  const ref = await push('deployed')
  const succeed = async (deployment_id: number, parameters: object = {}) =>
    first.rest.repos.createDeploymentStatus({ ...shop, deployment_id, state: 'success', ...parameters })
  const deploy = async (transient_environment = false) => {
    const about = { ...shop, ref, environment: 'shared', required_contexts: [], transient_environment }
    const { data } = await first.rest.repos.createDeployment(about)
    return 'id' in data ? Number(data.id) : expect.fail('no deployment was made')
  }
  const stateOf = async (deployment_id: number) =>
    (await first.rest.repos.listDeploymentStatuses({ ...shop, deployment_id })).data[0]?.state
  const [lasting, transient, last] = [await deploy(), await deploy(true), await deploy()]
  await succeed(last)
  await succeed(lasting)
  await succeed(transient, { auto_inactive: false })
  expect([await stateOf(lasting), await stateOf(transient), await stateOf(last)]).toEqual(['success', 'success', 'success'])
  await succeed(last)
  expect([await stateOf(lasting), await stateOf(transient), await stateOf(last)]).toEqual(['inactive', 'success', 'success'])
})
