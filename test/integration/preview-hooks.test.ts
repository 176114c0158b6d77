// The hooks of an AppPipeline: a Job before the first release of a preview, and one before it is deleted, for pull requests of
// the repository and of forks. Controllers, real git and a real API server against the GitHub emulator. The tests act as kpack,
// the grant controller and the kubelet.
import { describe, expect, test } from 'vitest'
import { setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import { application } from '../../src/api/apps/application.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { type Pod, pods } from '../../src/api/builtin/index.ts'
import { isolatedServiceAccount, jobNameLabel, labels } from '../../src/api/names.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { runPods, setPodStatus } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { type Previews, startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn } from '../fixtures/pull-requests.ts'
import { fieldManager, image, succeeded } from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()

const { push, open, pullOf, actionOf, fork, hub } = actsOn(
  () => github,
  () => clock,
)

function start(policy: object): Promise<Previews> {
  const program = (name: string) => ({ command: [name], timeoutSeconds: 60 })
  const hooks = { created: program('seed'), deleted: program('drop') }
  return startPipelineFixture(renderer, { hub: hub(), changes: { hooks, policy } })
}

/** Acts as the kubelet: the job that runs this command succeeds. Resolves to its pod. */
async function endJob({ client, namespace }: Previews, command: string): Promise<Pod> {
  const pod = await waitUntil(`a job that runs ${command}`, async () =>
    (await client.list(pods, { namespace })).find(
      one => one.metadata.labels?.[jobNameLabel] !== undefined && one.spec?.containers[0]?.command?.[0] === command,
    ),
  )
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: null, finishedAt: null }
  const container = { name: 'release', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }
  await setPodStatus(pod, { phase: 'Succeeded', containerStatuses: [container] })
  return pod
}

/** The preview of an open pull request from its build to its end; resolves to the pods of its hooks. */
async function live(fixture: Previews, number: number, commit: string): Promise<readonly Pod[]> {
  const { client, namespace } = fixture
  const key = { namespace, name: `shop-pr-${number}` }
  await fixture.approve(key.name)
  await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
  await fixture.rows({ [number]: 'Building' })
  const seed = await endJob(fixture, 'seed')
  await runPods(client, namespace, image(1), 1)
  await fixture.rows({ [number]: 'Running' })
  await waitUntil('later releases have no hook', async () => (await client.get(application, key))?.spec.releaseJob === undefined)
  await setPullRequestState(actionOf('dave'), pullOf(number), 'closed')
  await fixture.wakePipeline()
  await fixture.rows({ [number]: 'Removing' })
  await waitUntil('nothing is built', async () => (await client.get(remoteSync, key)) === undefined)
  const drop = await endJob(fixture, 'drop')
  await fixture.rows({})
  expect(await fixture.existing()).toEqual([])
  return [seed, drop]
}

describe('a preview begins and ends with the hooks of its AppPipeline', () => {
  test('which have the environment of the template', async () => {
    const fixture = await start({})
    const commit = await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    await fixture.wakePipeline()
    for (const { metadata, spec } of await live(fixture, number, commit)) {
      expect(metadata.labels).not.toHaveProperty([labels.isolated])
      expect(JSON.stringify(spec)).toContain('"name":"MODE","value":"preview"')
    }
  })

  test('which are as isolated as the preview, when it is that of a fork', async () => {
    const fixture = await start({ forks: 'Approved' })
    const { client, namespace } = fixture
    // The Tenant controller makes it in every tenant's namespace.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: isolatedServiceAccount } }
    const serviceAccounts = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true }
    await client.apply(serviceAccounts, account, { fieldManager })
    await fork()
    const commit = await push('noah', 'noah/shop', 'main', 'theirs')
    const { number } = await open('noah', 'noah:main')
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'WaitingForApproval' })
    await fixture.approveHead(number, commit)
    for (const { metadata, spec } of await live(fixture, number, commit)) {
      expect(metadata.labels).toMatchObject({ [labels.isolated]: 'true' })
      expect(spec).toMatchObject({ serviceAccountName: isolatedServiceAccount })
      expect(JSON.stringify(spec)).not.toContain('MODE')
    }
  })
})
