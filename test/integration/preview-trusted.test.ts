// Forks under the policy `Trusted`: commits of a fork run by themselves only while whoever owns the fork and opened the pull
// request may write to the repository. The platform is the product's: controllers and broker in processes of their own,
// GitHub's answers by id, builds.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { addCollaborator, removeCollaborator } from '../../dev/github/actions/people/collaborators.ts'
import { openPullRequest } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { previewApproval } from '../../src/api/apps/preview-approval.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { openPreviewFixture, type PreviewPlatform, startPreviewPlatform } from '../fixtures/preview-platform.ts'
import type { Fixture } from '../sweep/environment/fixture.ts'

const patience = { timeoutMilliseconds: limits.build, everyMilliseconds: 250 }

let fixture: Fixture
beforeAll(async () => {
  fixture = await openPreviewFixture()
})
afterAll(() => fixture?.stop())

/** Resolves when the pull request is in this state at its present head. */
function becomes({ list }: PreviewPlatform, pull: PullRequest, state: string): Promise<boolean> {
  return waitUntil(
    `pull request ${pull.number} to be ${state}`,
    async () => {
      const [pipeline] = await list(appPipeline)
      const row = pipeline?.status?.previews?.find(({ number }) => number === pull.number)
      if (row?.state === state && row.headCommit === pull.head.sha) return true
      throw new Error(JSON.stringify([pull.head.sha, row]))
    },
    patience,
  )
}

async function builtCommits({ list }: PreviewPlatform): Promise<readonly (string | undefined)[]> {
  return (await list(kpackBuilds)).map(({ spec }) => spec.source.git?.revision)
}

async function start(): Promise<PreviewPlatform> {
  const platform = await startPreviewPlatform(fixture)
  onTestFinished(() => platform.stop())
  await platform.applyPipeline('shop', { policy: { forks: 'Trusted' }, report: false })
  return platform
}

test('commits of a fork run by themselves as soon as their author may write, and wait from the first push without that', {
  timeout: timeLimit(300_000),
}, async () => {
  const platform = await start()
  const { actionAs, fork, list, open, push } = platform
  const olivia = actionAs('olivia')
  const noah = actionAs('noah').sender
  const pull = await open('by-noah', { repository: fork })
  await becomes(platform, pull, 'WaitingForApproval')
  expect(await list(previewApproval)).toEqual([])

  addCollaborator(olivia, noah as never, 'write')
  await push('by-noah', fork)
  const trusted = pull.head.sha
  await becomes(platform, pull, 'Running')
  const approved = (await list(previewApproval)).map(({ spec }) => [spec.headCommit, spec.via, spec.by.login])
  // The commit before may have been approved in between: noah may write by then.
  expect(approved).toContainEqual([trusted, 'Trusted', 'noah'])

  removeCollaborator(olivia, noah as never)
  await push('by-noah', fork)
  await becomes(platform, pull, 'WaitingForApproval')
  // One of dave's own, made last, runs: the controllers have looked at all before.
  await becomes(platform, await open('by-dave'), 'Running')
  expect(pull.head.sha).not.toBe(trusted)
  expect(await builtCommits(platform)).not.toContain(pull.head.sha)
})

test('somebody who may write lends no trust to a fork of somebody else, who pushes to it afterwards', {
  timeout: timeLimit(300_000),
}, async () => {
  const platform = await start()
  const { actionAs, fork, open, push } = platform
  await push('lent', fork)
  const pull = await openPullRequest(actionAs('dave'), {
    ...{ title: 'lent', body: null, head: 'noah:lent', seesHead: () => true, base: 'main', draft: false },
  })
  await becomes(platform, pull, 'WaitingForApproval')
  await becomes(platform, await open('by-dave'), 'Running')
  await becomes(platform, pull, 'WaitingForApproval')
  expect(await builtCommits(platform)).not.toContain(pull.head.sha)
})
