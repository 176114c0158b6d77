// What previews cost GitHub while nothing happens: one conditional request for the list of pull requests, although a fork waits
// for an approval and a preview follows a merge commit. What happens without a webhook is noticed all the same. The controllers
// of AppPipelines, RemoteSyncs, Applications and PreviewApprovals, real git and a real API server against the GitHub emulator.
import { expect, onTestFinished, test } from 'vitest'
import { createComment } from '../../dev/github/actions/pull-requests/comments.ts'
import { previewApproval } from '../../src/api/apps/preview-approval.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { createPreviewApprovalController } from '../../src/controllers/preview-approval/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type GitHubRequest, recordGitHubRequests } from '../bench/previews/github-requests.ts'
import { runPods } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import { image, succeeded } from '../fixtures/remote-sync-fixture.ts'
import { setStatus } from '../fixtures/statuses.ts'

useEmulatedGitHub()

const { push, open, pullOf, actionOf, repository, fork, hub } = actsOn(
  () => github,
  () => clock,
)
const list = `/repositories/${shop}/pulls`
const resyncs = 5

/** A preview that runs a merge commit, and a fork that waits. Everybody looks every two seconds. */
async function start() {
  const fixture = await startPipelineFixture(renderer, {
    hub: hub(),
    changes: { policy: { forks: 'Approved' } },
    sweepMilliseconds: 2000,
    beside: parts => [createPreviewApprovalController({ ...parts, audit: { appendOnce: async () => {} } })],
  })
  const { client, namespace, chart } = fixture
  const processes = [{ name: 'web', port: 3000, replicas: 1 }]
  await fixture.applyPipeline({ template: { source: 'Merge', application: { chart, processes }, build: {} } })
  await push('dave', 'acme/shop', 'feature', 'one')
  const { number } = await open('dave', 'feature')
  await fork()
  await push('noah', 'noah/shop', 'theirs', 'two')
  const waiting = await open('noah', 'noah:theirs')
  await fixture.approve(`shop-pr-${number}`)
  const merged = (than?: string) =>
    waitUntil('another merge commit', async () => {
      const { commit, pullRequest } = (await client.get(remoteSync, { namespace, name: `shop-pr-${number}` }))?.status ?? {}
      const base = pullRequest?.baseCommit
      // Before the AppPipeline of this test is known, a preview follows the head.
      if (commit !== undefined && base !== undefined && commit !== than) return { commit, base }
      throw new Error(`${commit} ${JSON.stringify(pullRequest)}`)
    })
  const { commit } = await merged()
  await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
  await runPods(client, namespace, image(1), 1)
  await fixture.rows({ [number]: 'Running', [waiting.number]: 'WaitingForApproval' })
  const requests = recordGitHubRequests(github.apiUrl)
  onTestFinished(() => requests.close())
  /** About the repository, as `<method> <path> <status>`. */
  const asked = (since: number): readonly string[] =>
    requests
      .since(since)
      .filter(({ path }) => path.includes(`/repositories/${shop}`))
      .map(({ method, path, status }: GitHubRequest) => `${method} ${path.replace(/^.*(?=\/repositories\/)/, '')} ${status}`)
  return { ...fixture, number, waiting, commit, merged, asked }
}

/** As GitHub writes it. */
function hourAgo(): string {
  return new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** All that happened is an hour old. */
function grewOld(): void {
  const ago = hourAgo()
  github.context.store.change(state => {
    repository().pushedAt = ago
    for (const pull of state.pullRequests) pull.updatedAt = ago
  })
}

async function untilAsked(asked: () => readonly string[], path: string, times = 1): Promise<void> {
  await waitUntil(`${path} ${times} times`, async () => {
    const found = asked()
    if (found.filter(one => one.startsWith(`GET ${path} `)).length >= times) return true
    throw new Error(JSON.stringify(found))
  })
}

/** Once all that happened is an hour old, and the questions that this leaves have been asked, whenever the last one is. */
async function asksOnlyTheList({ waiting, asked }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const old = performance.now()
  grewOld()
  await untilAsked(() => asked(old), `/repositories/${shop}/issues/${waiting.number}/comments`)
  await untilAsked(() => asked(old), `/repositories/${shop}/branches/main`)
  const isAtRest = (one: string): boolean => one === `GET ${list} 304`
  await waitUntil(`the list ${resyncs} times, and nothing else`, async () => {
    const found = asked(old)
    if (found.length >= resyncs && found.slice(-resyncs).every(isAtRest)) return true
    throw new Error(JSON.stringify(found))
  })
}

test('a waiting fork and a merge commit cost nothing but the list; a push to the base and an approval are found without webhooks', {
  timeout: timeLimit(240_000),
}, async () => {
  const fixture = await start()
  const { client, namespace, waiting, commit } = fixture
  await asksOnlyTheList(fixture)

  // The same file with the same text as in the branch: they do not conflict.
  const base = await push('dave', 'acme/shop', 'main', 'one')
  expect(await fixture.merged(commit)).toMatchObject({ base })

  grewOld()
  const { sha } = pullOf(waiting.number).head
  createComment(actionOf('dave'), waiting.number, `/sekisho approve ${sha}`)
  const approvals = await waitUntil('the approval', async () => {
    const found = await client.list(previewApproval, { namespace })
    return found.length > 0 ? found : undefined
  })
  expect(approvals.map(({ spec }) => [spec.number, spec.headCommit, spec.via])).toEqual([[waiting.number, sha, 'Comment']])
})

test('a conflict costs nothing but the list; a push to the base branch that ends it is found without webhooks', {
  timeout: timeLimit(240_000),
}, async () => {
  const fixture = await start()
  const { client, namespace, number, waiting, commit, asked } = fixture
  const becomes = (state: string) => fixture.rows({ [number]: state, [waiting.number]: 'WaitingForApproval' })
  await push('dave', 'acme/shop', 'main', 'another')
  await becomes('Conflict')
  await setStatus(remoteSync, namespace, `shop-pr-${number}`, { pullRequest: { conflictSince: hourAgo() } })
  const wakes = performance.now()
  await fixture.wake(`shop-pr-${number}`)
  await untilAsked(() => asked(wakes), `/repositories/${shop}/pulls/${number}`)
  await asksOnlyTheList(fixture)
  const conflicting = await client.get(remoteSync, { namespace, name: `shop-pr-${number}` })
  expect(findCondition(conflicting?.status?.conditions, 'Ready')?.reason).toBe('MergeConflict')

  const base = await push('dave', 'acme/shop', 'main', 'one')
  expect(await fixture.merged(commit)).toMatchObject({ base })
})
