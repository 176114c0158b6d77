// Commit statuses, deployments and environments: who may change them, what is sent, and what the pages show.
import { Octokit } from '@octokit/core'
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installApp } from '../../actions/install-app.ts'
import { mintInstallationToken } from '../../actions/mint-installation-token.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { defaultSeed } from '../../seed/default-seed.ts'
import { appById } from '../../state/github-state.ts'
import { cloneUrl, createGitClient, type GitClient } from '../../testing/git-client.ts'
import { signIn } from '../../testing/people.ts'
import { createRestClients, type RestClients, refusal } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'

const Client = Octokit.plugin(restEndpointMethods)
const shop = { owner: 'acme', repo: 'shop' }
const everything = { repositorySelection: 'all', repositoryIds: [] } as const
const events = ['push', 'status', 'deployment', 'deployment_status']
let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let first: InstanceType<typeof Client>
let git: GitClient

function tokenOfApp(): string {
  const { context } = emulator
  const app = appById(context.state, emulator.app.id)
  if (!app) throw new Error('no such App')
  const installation = installApp(context, app, { accountId: 2001, installerId: 1001, ...everything })
  const request = { repositories: undefined, repositoryIds: undefined, permissions: undefined, format: 'short' } as const
  return mintInstallationToken(context, app, installation, request).token
}

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const [app] = defaultSeed.apps
  if (!app) throw new Error('the seed has no App')
  emulator = await startStockedEmulator({
    seed: { ...defaultSeed, apps: [{ ...app, events }] },
    app: { webhookUrl: receiver.url },
  })
  clients = createRestClients(emulator)
  first = new Client({ baseUrl: emulator.apiUrl, auth: tokenOfApp() })
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
  const page = await (await signIn(emulator, 'dave')).open(`${emulator.url}/acme/shop/commit/${sha}`)
  expect(page.text).toContain('<strong>pending</strong> ci: Wait')
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
