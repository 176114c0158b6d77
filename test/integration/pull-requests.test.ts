// RemoteSyncs of pull requests: the controllers, git and a real API server against the GitHub emulator. Merge commits as
// GitHub makes them, the wall for forks, and promotion. The tests act as kpack, the grant controller, the kubelet and the
// controllers of AppPipelines and approvals.
import { describe, expect, test } from 'vitest'
import { mergePullRequest } from '../../dev/github/actions/pull-requests/merge.ts'
import { setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import type { Fault } from '../../dev/github/faults/kinds.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { application } from '../../src/api/apps/application.ts'
import { type PreviewApproval, previewApproval, previewApprovalName } from '../../src/api/apps/preview-approval.ts'
import { release } from '../../src/api/apps/release.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { readyReason, runPods } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import {
  fieldManager,
  image,
  type RemoteSyncFixture,
  startRemoteSyncFixture,
  succeeded,
} from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()

const { actionOf, open, push, fork, hub } = actsOn(
  () => github,
  () => clock,
)

const becomes = ({ client, namespace }: RemoteSyncFixture, reason: string, name = 'shop') =>
  readyReason(client, remoteSync, { namespace, name }, reason)

async function builtCommits({ client, namespace }: RemoteSyncFixture): Promise<readonly (string | undefined)[]> {
  return (await client.list(kpackBuilds, { namespace }))
    .filter(build => build.metadata.deletionTimestamp === undefined)
    .map(build => build.spec.source.git?.revision)
}

/** Acts as kpack and the kubelet: the commit is built as the image of that number, and its pods run. */
async function built(fixture: RemoteSyncFixture, commit: string, number: number) {
  await fixture.endBuild(await fixture.buildOf(commit), succeeded(number))
  await runPods(fixture.client, fixture.namespace, image(number), 1)
}

async function parentsOf(sha: string): Promise<readonly string[]> {
  return (await github.context.git.commit(shop, sha)).parents
}

/** Ways in which GitHub does not answer a question, and for how long: until they are disarmed. */
const silences: readonly ((path: string) => Fault)[] = [
  path => ({ kind: 'rest-status', method: 'GET', path, status: 500 }),
  path => ({ kind: 'rate-limited', method: 'GET', path, limit: 'primary', retryAfter: 1 }),
  path => ({ kind: 'reset', method: 'GET', path, when: 'before' }),
  path => ({ kind: 'reset', method: 'GET', path, when: 'during', bytes: 40 }),
]

describe('the merge commit', () => {
  async function following() {
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    const head = await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: 'ours' })
    const pull = await open('dave', 'feature')
    await fixture.applyApplication()
    await fixture.applyRemoteSync({ source: { pullRequest: pull.number, mergeCommit: true } })
    await fixture.approve()
    return { fixture, pull, head }
  }

  /** Waits until a merge of exactly these two is built. */
  function mergeBuilt(fixture: RemoteSyncFixture, parents: readonly string[]): Promise<string> {
    return waitUntil(`a merge of ${parents.join(' and ')} is built`, async () => {
      for (const commit of await builtCommits(fixture))
        if (commit !== undefined && JSON.stringify(await parentsOf(commit)) === JSON.stringify(parents)) return commit
      return undefined
    })
  }

  test('of the present base and head is built; a push to either gives another one', async () => {
    const { fixture, pull, head } = await following()
    const merged = await mergeBuilt(fixture, [pull.base.sha, head])
    await built(fixture, merged, 1)
    const { status } = await becomes(fixture, 'Deployed')
    expect(status).toMatchObject({
      commit: merged,
      imageCommit: merged,
      pullRequest: { number: pull.number, headCommit: head, headRepository: shop, baseBranch: 'main' },
    })
    const base = await push('dave', 'acme/shop', 'main', { file: 'other.txt', text: 'theirs' })
    await fixture.wake()
    await mergeBuilt(fixture, [base, head])
    const next = await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: 'more', from: 'feature' })
    await fixture.wake()
    await mergeBuilt(fixture, [base, next])
  })

  test('is waited for while GitHub has not computed it, with growing waits; the former one is not built', async () => {
    github.context.faults.arm({ kind: 'merge-not-tested' }, 2)
    const { fixture, pull, head } = await following()
    const { status } = await becomes(fixture, 'MergePending')
    expect(status?.pullRequest?.mergePendingSince).toBeDefined()
    expect(await builtCommits(fixture)).toEqual([])
    const merged = await mergeBuilt(fixture, [pull.base.sha, head])
    expect(await builtCommits(fixture)).toEqual([merged])
    const found = await fixture.client.get(remoteSync, { namespace: fixture.namespace, name: 'shop' })
    expect(found?.status?.pullRequest).not.toHaveProperty('mergePendingSince')
  })

  test.each([
    ['the pull request', `/repositories/${shop}/pulls`],
    ['the base branch', `/repositories/${shop}/branches/main`],
    ['the merge commit', `/repositories/${shop}/git/commits`],
  ])(
    'is not built while GitHub does not answer about %s: what was built stays, and the present merge is built afterwards',
    async (what, path) => {
      const { fixture, pull, head } = await following()
      const merges = [await mergeBuilt(fixture, [pull.base.sha, head])]
      await built(fixture, merges[0] ?? '', 1)
      await becomes(fixture, 'Deployed')
      for (const [index, silence] of inTurn('github-faults', what, silences, 1).entries()) {
        const fault = silence(path)
        const armed = github.context.faults.arm(fault, null)
        // Both change, and no answer has shown that yet, so that none is a 304, which has no body.
        const base = await push('dave', 'acme/shop', 'main', { file: 'other.txt', text: `base ${index}` })
        const next = await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: `push ${index}`, from: 'feature' })
        await fixture.wake()
        const { status } = await becomes(fixture, 'GitHubUnreachable').catch((error: unknown) =>
          expect.fail(`${JSON.stringify(fault)}: ${String(error)}`),
        )
        expect(status?.image, JSON.stringify(fault)).toBe(image(1))
        for (const commit of await builtCommits(fixture)) expect(merges, JSON.stringify(fault)).toContain(commit)
        github.context.faults.disarm(armed)
        await fixture.wake()
        merges.push(await mergeBuilt(fixture, [base, next]))
      }
    },
  )

  test('does not exist while they conflict: what runs goes on, and resolving the conflict builds', async () => {
    const { fixture, pull, head } = await following()
    await built(fixture, await mergeBuilt(fixture, [pull.base.sha, head]), 1)
    await becomes(fixture, 'Deployed')
    const base = await push('dave', 'acme/shop', 'main', { file: 'page.txt', text: 'theirs' })
    await fixture.wake()
    const conflicting = await becomes(fixture, 'MergeConflict')
    expect(findCondition(conflicting.status?.conditions, 'Ready')?.message).toContain('conflicts with branch main')
    expect((await fixture.client.get(application, { namespace: fixture.namespace, name: 'shop' }))?.spec.image).toBe(image(1))
    const solved = await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: 'both' })
    await fixture.wake()
    await mergeBuilt(fixture, [base, solved])
    await setPullRequestState(actionOf('dave'), pull, 'closed')
    await fixture.wake()
    await becomes(fixture, 'PullRequestClosed')
    expect(await builtCommits(fixture)).not.toContain(solved)
  })
})

describe('forks', () => {
  const preview = 'web-pr-7'

  /** A public repository, as strangers can fork it, with a fork of noah and a pull request of it. */
  async function forked() {
    await fork()
    const head = await push('noah', 'noah/shop', 'idea', { file: 'idea.txt', text: 'one' })
    return { head, pull: await open('noah', 'noah:idea') }
  }

  /** A preview as the controller of AppPipelines makes it: its approvals count for it. */
  async function previewed(source: object) {
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    const { client, namespace } = fixture
    const { apiVersion, kind } = appPipeline
    const spec = {
      installation: 'github',
      repository: 'acme/shop',
      requestedBy: 'github|github.localhost|1',
      template: { application: { chart: fixture.chart, processes: [{ name: 'web', port: 3000 }] } },
    }
    const pipeline = await client.apply(
      appPipeline,
      { apiVersion, kind, metadata: { name: 'web', namespace }, spec },
      { fieldManager },
    )
    await fixture.applyApplication(preview)
    await fixture.applyRemoteSync({ source }, preview, { ownerReferences: [ownerReference(pipeline, { controller: true })] })
    await fixture.approve(preview)
    const approve = (number: number, headCommit: string, changes: Partial<PreviewApproval['spec']> = {}) =>
      client.create(
        previewApproval,
        {
          apiVersion: previewApproval.apiVersion,
          kind: previewApproval.kind,
          metadata: { name: previewApprovalName(preview, headCommit), namespace },
          spec: {
            pipeline: { name: 'web', uid: pipeline.metadata.uid ?? '' },
            repository: shop,
            number,
            headCommit,
            by: { id: 1001, login: 'olivia' },
            via: 'Comment',
            ...changes,
          },
        },
        { fieldManager },
      )
    const withdraw = (headCommit: string) =>
      client.delete(previewApproval, { namespace, name: previewApprovalName(preview, headCommit) })
    return { ...fixture, approveHead: approve, withdraw }
  }

  test('a head that nobody approved is not fetched; the approved one is, and a push needs another approval', async () => {
    const { head, pull } = await forked()
    const fixture = await previewed({ pullRequest: pull.number })
    const waiting = await becomes(fixture, 'ApprovalMissing', preview)
    expect(waiting.status).toMatchObject({ pullRequest: { headCommit: head, headRepository: pull.head.repositoryId } })
    expect(waiting.status?.commit).toBeUndefined()
    await fixture.approveHead(pull.number, head)
    const build = await fixture.buildOf(head)
    await fixture.endBuild(build, succeeded(1))
    await runPods(fixture.client, fixture.namespace, image(1), 1)
    await becomes(fixture, 'Deployed', preview)

    const pushed = await push('noah', 'noah/shop', 'idea', { file: 'idea.txt', text: 'evil', from: 'idea' })
    await fixture.wake(preview)
    const again = await becomes(fixture, 'ApprovalMissing', preview)
    expect(findCondition(again.status?.conditions, 'Resolved')?.message).toContain(`/sekisho approve ${pushed}`)
    expect(again.status).toMatchObject({ pullRequest: { headCommit: pushed }, imageCommit: head })
    expect(again.status).not.toHaveProperty('imageSource')
    expect(await builtCommits(fixture)).toEqual([head])
  })

  test('a withdrawn approval ends the build', async () => {
    const { head, pull } = await forked()
    const fixture = await previewed({ pullRequest: pull.number })
    await becomes(fixture, 'ApprovalMissing', preview)
    await fixture.approveHead(pull.number, head)
    const build = await fixture.buildOf(head)
    await becomes(fixture, 'Building', preview)
    await fixture.withdraw(head)
    await becomes(fixture, 'ApprovalMissing', preview)
    expect(await builtCommits(fixture)).toEqual([])
    const url = build.spec.source.git?.url ?? ''
    expect((await fetch(`${url}/info/refs?service=git-upload-pack`)).status).toBe(404)
  })

  test.each([
    ['of another pipeline', { pipeline: { name: 'web', uid: 'another' } }],
    ['of another repository', { repository: 4002 }],
    ['of another pull request', { number: 99 }],
  ])('an approval %s does not count', async (_what, changes) => {
    const { head, pull } = await forked()
    const fixture = await previewed({ pullRequest: pull.number })
    await becomes(fixture, 'ApprovalMissing', preview)
    await fixture.approveHead(pull.number, head, changes)
    await fixture.wake(preview)
    const wake = (await fixture.client.get(remoteSync, { namespace: fixture.namespace, name: preview }))?.metadata.annotations
    await waitUntil('the wake is handled', async () => {
      const found = await fixture.client.get(remoteSync, { namespace: fixture.namespace, name: preview })
      return found?.status?.handledWake === wake?.['sekisho.dev/wake']
    })
    await becomes(fixture, 'ApprovalMissing', preview)
    expect(await builtCommits(fixture)).toEqual([])
  })

  test('the merge of an approved head is built; a RemoteSync that a person wrote gets no approval', async () => {
    const { head, pull } = await forked()
    const fixture = await previewed({ pullRequest: pull.number, mergeCommit: true })
    await becomes(fixture, 'ApprovalMissing', preview)
    await fixture.applyApplication()
    await fixture.applyRemoteSync({ source: { pullRequest: pull.number } })
    await fixture.approve()
    await fixture.approveHead(pull.number, head)
    const merged = await waitUntil('the merge is built', async () => (await builtCommits(fixture))[0])
    expect(await parentsOf(merged)).toEqual([pull.base.sha, head])
    await becomes(fixture, 'ApprovalMissing')
    expect(await builtCommits(fixture)).toEqual([merged])
  })
})

describe('promotion', () => {
  /** main runs, and a preview of a pull request that is one commit ahead of it. */
  async function previewed() {
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    const first = await push('dave', 'acme/shop', 'main', { file: 'page.txt', text: 'one' })
    for (const name of ['shop', 'preview']) await fixture.applyApplication(name)
    await fixture.applyRemoteSync()
    await fixture.approve()
    await built(fixture, first, 1)
    await becomes(fixture, 'Deployed')
    const head = await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: 'two' })
    const pull = await open('dave', 'feature')
    await fixture.applyRemoteSync({ source: { pullRequest: pull.number } }, 'preview')
    await fixture.approve('preview')
    await built(fixture, head, 2)
    await becomes(fixture, 'Deployed', 'preview')
    return { fixture, pull, head }
  }

  const releasesOf = async ({ client, namespace }: RemoteSyncFixture) =>
    (await client.list(release, { namespace }))
      .filter(({ spec }) => spec.application.name === 'shop')
      .map(({ spec }) => [spec.number, spec.reason, spec.image, spec.by.name])
      .sort()

  test('a merge with the files of the preview runs its image without a build, also when the preview has gone', async () => {
    const { fixture, pull, head } = await previewed()
    await fixture.client.delete(remoteSync, { namespace: fixture.namespace, name: 'preview' })
    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'merge' })
    await waitUntil('the preview is gone', async () =>
      (await fixture.client.get(remoteSync, { namespace: fixture.namespace, name: 'preview' })) ? undefined : true,
    )
    await fixture.wake()
    // The Application of the preview is still there.
    await runPods(fixture.client, fixture.namespace, image(2), 2)
    const { status } = await becomes(fixture, 'Promoted')
    expect(status).toMatchObject({ commit: merged, image: image(2), imageCommit: head, promoted: { commit: merged, from: head } })
    expect(await builtCommits(fixture)).not.toContain(merged)
    expect(await releasesOf(fixture)).toEqual([
      [1, 'First', image(1), 'shop'],
      [2, 'Promoted', image(2), 'shop'],
    ])
    fixture.writes.length = 0
    await fixture.wake()
    await waitUntil('the wake is handled', async () => fixture.writes.includes('status RemoteSync shop'))
    expect(fixture.writes).toEqual(['status RemoteSync shop'])
  })

  test('a merge runs the image of a preview of its merge commit, although the branch was behind', async () => {
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    await push('dave', 'acme/shop', 'feature', { file: 'page.txt', text: 'two' })
    const base = await push('dave', 'acme/shop', 'main', { file: 'other.txt', text: 'theirs' })
    const pull = await open('dave', 'feature')
    for (const name of ['shop', 'preview']) await fixture.applyApplication(name)
    await fixture.applyRemoteSync()
    await fixture.approve()
    await built(fixture, base, 1)
    await becomes(fixture, 'Deployed')
    await fixture.applyRemoteSync({ source: { pullRequest: pull.number, mergeCommit: true } }, 'preview')
    await fixture.approve('preview')
    const tested = await waitUntil('the merge commit is built', async () =>
      (await builtCommits(fixture)).find(commit => commit !== base),
    )
    expect(await parentsOf(tested)).toEqual([base, pull.head.sha])
    await built(fixture, tested, 2)
    await becomes(fixture, 'Deployed', 'preview')

    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'merge' })
    expect(merged).not.toBe(tested)
    await fixture.wake()
    await runPods(fixture.client, fixture.namespace, image(2), 2)
    const { status } = await becomes(fixture, 'Promoted')
    expect(status).toMatchObject({
      commit: merged,
      image: image(2),
      imageCommit: tested,
      promoted: { commit: merged, from: tested },
    })
    expect(await builtCommits(fixture)).not.toContain(merged)
  })

  test('waits while GitHub does not say which files the merge has, whatever it answers; then it takes the image', async () => {
    const { fixture, pull, head } = await previewed()
    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'merge' })
    const path = `/repositories/${shop}/git/commits/${merged}`
    for (const silence of inTurn('github-faults', 'the files of a merge', silences, 2)) {
      const fault = silence(path)
      const armed = github.context.faults.arm(fault, null)
      await fixture.wake()
      await waitUntil(`GitHub is asked under ${JSON.stringify(fault)}`, async () =>
        github.context.faults.list().some(one => one.id === armed && one.used > 0),
      )
      const { status } = await becomes(fixture, 'GitHubUnreachable').catch((error: unknown) =>
        expect.fail(`${JSON.stringify(fault)}: ${String(error)}`),
      )
      expect([status?.image, status?.promoted], JSON.stringify(fault)).toEqual([image(1), undefined])
      const app = await fixture.client.get(application, { namespace: fixture.namespace, name: 'shop' })
      expect(app?.spec.image, JSON.stringify(fault)).toBe(image(1))
      expect(await builtCommits(fixture), JSON.stringify(fault)).not.toContain(merged)
      github.context.faults.disarm(armed)
    }
    await fixture.wake()
    await runPods(fixture.client, fixture.namespace, image(2), 2)
    expect((await becomes(fixture, 'Promoted')).status).toMatchObject({
      image: image(2),
      promoted: { commit: merged, from: head },
    })
    expect(await builtCommits(fixture)).not.toContain(merged)
  })

  test('a merge whose files GitHub denies to know is built, and stays so when GitHub knows them again', async () => {
    const { fixture, pull } = await previewed()
    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'merge' })
    const path = `/repositories/${shop}/git/commits/${merged}`
    const armed = github.context.faults.arm({ kind: 'rest-status', method: 'GET', path, status: 404 }, null)
    await fixture.wake()
    const build = await fixture.buildOf(merged)
    github.context.faults.disarm(armed)
    await fixture.wake()
    await fixture.endBuild(build, succeeded(3))
    await runPods(fixture.client, fixture.namespace, image(3), 1)
    const { status } = await becomes(fixture, 'Deployed')
    expect([status?.image, status?.imageCommit, status?.promoted]).toEqual([image(3), merged, undefined])
  })

  test('a merge with other files is built', async () => {
    const { fixture, pull } = await previewed()
    await push('dave', 'acme/shop', 'main', { file: 'other.txt', text: 'theirs' })
    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'merge' })
    await fixture.wake()
    await fixture.buildOf(merged)
  })

  test('a merge under other build settings is built', async () => {
    const { fixture, pull } = await previewed()
    await fixture.applyRemoteSync({ build: { env: [{ name: 'MODE', value: 'production' }] } })
    const merged = await mergePullRequest(actionOf('dave'), pull, { method: 'squash' })
    await fixture.wake()
    await fixture.buildOf(merged)
  })
})
