// What the platform writes to GitHub about a RemoteSync, with the controllers on a real API server and the GitHub emulator:
// deployments and commit statuses follow each commit, at most one of a kind in ten seconds, the last state always, and nothing
// twice.
import { expect, test } from 'vitest'
import { type GitHubReport, githubReport } from '../../src/api/apps/github-report.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { gone, readyReason, runPods } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { installedFixture } from '../fixtures/github-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import {
  brokerUrl,
  failed,
  type Hub,
  image,
  type RemoteSyncFixture,
  startRemoteSyncFixture,
  succeeded,
} from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()

const { push: pushTo } = actsOn(
  () => github,
  () => clock,
)
const push = (text: string): Promise<string> => pushTo('dave', 'acme/shop', 'main', text)

function hub(): Hub {
  const { client, installation, endpoints } = installedFixture(github, clock)
  const permissions = { contents: 'read', deployments: 'write', statuses: 'write' } as const
  return {
    endpoints,
    clock,
    repository: { id: shop, fullName: 'acme/shop' },
    mint: async () => (await client.mint({ installationId: installation.id, repositoryIds: [shop], permissions })).token,
    appId: github.app.id,
  }
}

/** A RemoteSync of acme/shop that reports; its first commit is being built. */
async function reporting(): Promise<RemoteSyncFixture & { readonly first: string }> {
  const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
  const first = await push('one')
  await fixture.applyApplication()
  await fixture.applyRemoteSync({ report: { environment: 'staging' } })
  await fixture.approve()
  await fixture.buildOf(first)
  return { ...fixture, first }
}

const ofApp = () => github.context.state.deployments.filter(one => one.repositoryId === shop)
const statesOf = (id: number) =>
  github.context.state.deploymentStatuses.filter(one => one.deploymentId === id).map(one => one.state)
const commitStates = (sha: string) => github.context.state.statuses.filter(one => one.sha === sha).map(one => one.state)

function reported({ client, namespace }: RemoteSyncFixture): Promise<GitHubReport> {
  return readyReason(client, githubReport, { namespace, name: 'remotesync-shop' }, 'Reported')
}

/** Waits until GitHub shows it. */
function shows(what: string, found: () => boolean): Promise<true> {
  return waitUntil(what, async () => found() || undefined)
}

test('a branch: pending and in progress while it builds, success with the URL when it runs, failure with the way to the log; rest', async () => {
  const fixture = await reporting()
  const { client, namespace, first } = fixture
  await shows('the first commit is pending', () => commitStates(first).includes('pending'))
  await shows('its deployment is in progress', () => ofApp().some(({ id }) => statesOf(id).includes('in_progress')))
  const build = await fixture.buildOf(first)
  const [status] = github.context.state.statuses
  expect(status).toMatchObject({
    context: 'sekisho/shop',
    targetUrl: `${brokerUrl}/tenants/${namespace}/builds/${build.metadata.name}`,
  })
  expect(ofApp()).toMatchObject([{ sha: first, environment: 'staging', transient: false }])
  const report = await reported(fixture)
  expect(report.metadata.ownerReferences).toMatchObject([{ kind: 'RemoteSync', name: 'shop', controller: true }])

  await fixture.endBuild(build, succeeded(1))
  await runPods(client, namespace, image(1), 1)
  await shows('the first commit succeeded', () => commitStates(first).includes('success'))
  const [deployment] = ofApp()
  await shows('its deployment succeeded', () => statesOf(deployment?.id ?? 0).includes('success'))
  await reported(fixture)
  expect(commitStates(first)).toEqual(['pending', 'success'])
  expect(statesOf(deployment?.id ?? 0)).toEqual(['in_progress', 'success'])
  expect(github.context.state.deploymentStatuses.at(-1)).toMatchObject({
    environmentUrl: `http://shop.${namespace}.localhost:8080`,
  })

  fixture.writes.length = 0
  const writes = github.context.state.statuses.length + github.context.state.deploymentStatuses.length
  await client.mergePatch(
    githubReport,
    { namespace, name: 'remotesync-shop' },
    { metadata: { annotations: { touched: 'yes' } } },
    { fieldManager: 'test' },
  )
  await fixture.wake()
  await waitUntil('the wake is handled', async () => fixture.writes.includes('status RemoteSync shop'))
  expect(fixture.writes.filter(write => write.includes('GitHubReport'))).toEqual([])
  expect(github.context.state.statuses.length + github.context.state.deploymentStatuses.length).toBe(writes)

  const second = await push('two')
  await fixture.wake()
  const bad = await fixture.buildOf(second)
  await fixture.endBuild(bad, failed('Error: Container build terminated with error no such file'))
  await readyReason(client, remoteSync, { namespace, name: 'shop' }, 'BuildFailed')
  await shows('the second commit failed', () => commitStates(second).includes('failure'))
  await shows('its deployment failed', () => ofApp().some(({ id, sha }) => sha === second && statesOf(id).includes('failure')))
  const serving = await reported(fixture)
  expect(serving.status?.servingDeployment).toBe(deployment?.id)
  expect(statesOf(deployment?.id ?? 0).at(-1)).toBe('success')

  await client.delete(remoteSync, { namespace, name: 'shop' })
  await gone(client, remoteSync, { namespace, name: 'shop' })
  expect(ofApp().map(({ id }) => statesOf(id).at(-1))).toEqual(['inactive', 'inactive'])
  expect(await client.get(githubReport, { namespace, name: 'remotesync-shop' })).toBeUndefined()
})
