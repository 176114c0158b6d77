// The effects of a reconcile and their order, with everything outside replaced by fakes. What the decisions are is tested
// beside them; what they do together on a real API server is in test/integration.
import { describe, expect, test } from 'vitest'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { AppError } from '../../lib/errors.ts'
import { type BuiltPreview, buildInputs } from './promotion/built-preview.ts'
import { before, type Fakes, finalized, named, reconcile, tree } from './testing/reconcile-once.ts'
import { application, commit, condition, now, sync } from './testing/remote-sync.ts'

/** The status takes longer than the fetch: what comes next has waited for both. */
const fetched = ['token', 'fetch begins', 'fetch ends', 'status Fetching']
const timeOf = now.toISOString()

describe('the effects of a reconcile', () => {
  test('without a grant: the grant is created', async () => {
    const { effects, status, prepared } = await reconcile({ without: 'grant' })
    expect(prepared).toBe(false)
    expect(effects).toEqual(['create RepositoryGrant', 'status WaitingForGrant'])
    expect(status?.grant).toBe('remotesync-shop')
  })

  test('a new commit: the status beside the fetch, then the build, then the status again', async () => {
    const builds = [{ key: { namespace: 'acme-build', name: 'older' }, ended: false }]
    const { effects, status, slot, outcome, prepared } = await reconcile({ builds })
    expect(prepared).toBe(true)
    expect(effects).toEqual(['token', 'cancel older', ...fetched.slice(1), 'start http://source/x', 'status Building'])
    expect(status).toMatchObject({
      commit,
      build: { name: named, attempt: 1 },
      phases: { fetchedAt: timeOf, buildCreatedAt: timeOf },
    })
    expect(slot).toBe('taken')
    expect(outcome).toEqual({ kind: 'done' })
  })

  test.each<[string, Fakes, string[], string]>([
    [
      'the fetch fails',
      { fetchError: new AppError('unavailable', 'down', { reason: 'FetchFailed' }) },
      ['status FetchFailed'],
      'FetchFailed',
    ],
    [
      'the commit is too large',
      { fetchError: new AppError('upstream_failed', 'large', { reason: 'SourceTooLarge' }) },
      ['status SourceTooLarge'],
      'SourceTooLarge',
    ],
    ['the fetch has a defect', { fetchError: new TypeError('a defect') }, [], 'Fetching'],
    [
      'the builder refuses',
      { start: { kind: 'refused', message: 'x' } },
      ['start http://source/x', 'status BuilderNotReady'],
      'BuilderNotReady',
    ],
    ['the builder throws', { start: new Error('x') }, ['start http://source/x'], 'Fetching'],
  ])('when %s, the slot is released', async (_what, fakes, rest, reason) => {
    const { effects, slot, status } = await reconcile(fakes)
    expect(effects).toEqual([...fetched, ...rest])
    expect(slot).toBe('free')
    expect(findCondition(status?.conditions, 'Ready')?.reason).toBe(reason)
  })

  test('an error that a retry may help is thrown after the status is written, a permanent one is not', async () => {
    const temporary = new AppError('unavailable', 'down', { reason: 'FetchFailed' })
    expect((await reconcile({ fetchError: temporary })).outcome).toBe(temporary)
    const permanent = await reconcile({ fetchError: new AppError('upstream_failed', 'large', { reason: 'SourceTooLarge' }) })
    expect(permanent.outcome).toEqual({ kind: 'done' })
    expect(permanent.status).toMatchObject({ failedCommit: commit, failure: { stage: 'Fetched' } })
  })

  test('a running build whose source is gone: the source is fetched again, and nothing is started', async () => {
    const state = { kind: 'running', step: 'prepare', needsSource: true, deadline: new Date(now.getTime() + 60_000) } as const
    const { effects, outcome } = await reconcile({ state, without: 'source' })
    expect(effects).toEqual(['token', 'fetch begins', 'fetch ends', 'status Building'])
    expect(outcome).toEqual({ kind: 'requeue', requeueAfterMilliseconds: 60_000 })
  })

  test('an image: the address of the source is closed, then the Application is written', async () => {
    const { effects, status } = await reconcile({
      state: { kind: 'succeeded', image: 'image@1', proof: { kind: 'proven', commit } },
    })
    expect(effects).toEqual(['token', 'revoke source', 'apply Application image@1', 'status RollingOut'])
    expect(status).toMatchObject({ image: 'image@1', imageCommit: commit, imageBuild: named, phases: { deployedAt: timeOf } })
  })

  test('a build that timed out: its source is revoked before it is cancelled', async () => {
    const { effects } = await reconcile({ state: { kind: 'timed-out', detail: 'x' } })
    expect(effects).toEqual(['token', 'revoke source', `cancel ${named}`, 'status BuildTimedOut'])
  })

  test('the repository is reported under its present name', async () => {
    expect((await reconcile()).status?.repository).toEqual({ id: 7, name: 'acme/now', requested: 'acme/shop' })
  })

  test('a repository that GitHub does not show any more halts without retries', async () => {
    const { effects, outcome } = await reconcile({ without: 'repository' })
    expect(effects).toEqual(['token', 'status RepositoryNotFound'])
    expect(outcome).toEqual({ kind: 'done' })
  })

  const deployed = { observedGeneration: 1, commit: before, image: 'image@0', imageCommit: before }
  const changed = { ...finalized, generation: 2 }

  test.each<[string, Fakes, string]>([
    ['waits for its grant', { without: 'grant' }, 'WaitingForGrant'],
    ['names a branch that does not exist', { without: 'branch' }, 'BranchNotFound'],
  ])('a changed spec that %s leaves no commit of the earlier source behind', async (_what, fakes, reason) => {
    const remoteSync = sync({}, { metadata: changed, status: deployed })
    const { status } = await reconcile({ ...fakes, remoteSync })
    expect(findCondition(status?.conditions, 'Ready')?.reason).toBe(reason)
    expect(status?.commit).toBeUndefined()
    expect(status?.image).toBe('image@0')
  })

  const paths = ['services/api', 'libs/**/*.ts', '!**/*.md']

  test('a commit that changes nothing under spec.paths is not built, and the status says so', async () => {
    const remoteSync = sync({ paths }, { metadata: finalized, status: deployed })
    const { effects, status } = await reconcile({ remoteSync, changedFiles: ['services/web/a.ts', 'services/api/README.md'] })
    expect(effects).toEqual(['token', 'apply Application image@0', 'status RollingOut'])
    expect(status).toMatchObject({ commit, unbuilt: { commit, since: before }, imageCommit: before })
  })

  test.each<[string, Partial<RemoteSync['status'] & object>, Fakes]>([
    ['changes a file under spec.paths', {}, { changedFiles: ['docs/x', 'services/api/src/main.ts'] }],
    ['cannot be compared', {}, {}],
    ['comes with a new spec', { observedGeneration: 0 }, { changedFiles: [] }],
  ])('a commit that %s is built', async (_what, status, fakes) => {
    const remoteSync = sync(
      { paths },
      { metadata: finalized, status: { ...deployed, unbuilt: { commit: before, since: before }, ...status } },
    )
    const result = await reconcile({ ...fakes, remoteSync })
    expect(result.effects).toContain('start http://source/x')
    expect(result.status?.unbuilt).toBeUndefined()
  })

  describe('a commit whose message asks for no build', () => {
    const skipped = { commit, since: before, skipped: true }

    test('is not built, and the status says so with what to do', async () => {
      const remoteSync = sync({}, { metadata: finalized, status: deployed })
      const runs = application(
        { image: 'image@0', commit: before },
        { image: 'image@0', conditions: [condition('Ready', 'True')] },
      )
      const { effects, status } = await reconcile({ remoteSync, runs, skips: true })
      expect(effects).toEqual(['token', 'status CommitSkipped'])
      expect(status?.unbuilt).toEqual(skipped)
      expect(findCondition(status?.conditions, 'Ready')?.message).toMatch(
        /\[skip ci\].*push a commit without.*spec\.source\.commit/,
      )
    })

    test.each<[string, Fakes]>([
      ['after the spec changed', { remoteSync: sync({}, { metadata: changed, status: deployed }) }],
      ['when nothing was built before', { remoteSync: sync({}, { metadata: finalized, status: { observedGeneration: 1 } }) }],
      ['once it is being built', { remoteSync: sync({}, { metadata: finalized, status: { ...deployed, commit } }) }],
    ])('is built %s', async (_what, fakes) => {
      const result = await reconcile({ ...fakes, skips: true })
      expect(result.effects).toContain('start http://source/x')
      expect(result.status?.unbuilt).toBeUndefined()
    })

    test('counts from its own build when it is built later', async () => {
      const phases = { signalledAt: '2026-01-01T00:00:00Z', availableAt: '2026-01-01T00:01:00Z' }
      const remoteSync = sync({}, { metadata: changed, status: { ...deployed, commit, unbuilt: skipped, phases } })
      const { status } = await reconcile({ remoteSync, skips: true })
      expect(status?.phases).toMatchObject({ signalledAt: now.toISOString() })
      expect(status?.phases).not.toHaveProperty('availableAt')
    })
  })

  test('a renamed branch is followed, and the status says so until its name is corrected', async () => {
    const remoteSync = sync({}, { metadata: finalized })
    const { status, effects } = await reconcile({ remoteSync, renamedTo: 'trunk' })
    expect(effects).toContain('start http://source/x')
    expect(status?.renamedBranch).toEqual({ from: 'main', to: 'trunk' })
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain('set spec.source.branch to trunk')
    const corrected = sync({ source: { branch: 'trunk' } }, { metadata: changed, status: status ?? {} })
    expect((await reconcile({ remoteSync: corrected })).status).not.toHaveProperty('renamedBranch')
    const gone = await reconcile({ remoteSync: corrected, without: 'branch' })
    expect(findCondition(gone.status?.conditions, 'Ready')?.message).not.toContain('renamed')
  })

  test('without an Application nothing is built', async () => {
    expect((await reconcile({ without: 'application' })).effects).toEqual(['token', 'status ApplicationNotFound'])
  })
})

describe('the wall for forks', () => {
  const uid = 'uid-p'
  const owned = {
    ...finalized,
    ownerReferences: [{ apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', name: 'p', uid, controller: true }],
  }
  const source = { pullRequest: 3 }
  const pullRequest = {
    state: 'open' as const,
    headSha: commit,
    headRepositoryId: 8,
    baseRepositoryId: 7,
    baseBranch: 'main',
    mergeable: true,
    mergeCommit: undefined,
  }
  const approval: PreviewApproval = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'PreviewApproval',
    metadata: { name: `shop-${commit.slice(0, 12)}`, namespace: 'acme' },
    spec: {
      pipeline: { name: 'p', uid },
      repository: 7,
      number: 3,
      headCommit: commit,
      by: { id: 1, login: 'olivia' },
      via: 'Comment',
    },
  }
  const remoteSync = sync({ source }, { metadata: owned })
  const running = [{ key: { namespace: 'acme-build', name: 'older' }, ended: false }]
  const fork = { remoteSync, pullRequest, grantOf: remoteSync }

  test('without an approval nothing is fetched, and what was being built is ended', async () => {
    const { effects, status } = await reconcile({ ...fork, builds: running })
    expect(effects).toEqual(['token', 'revoke sources of uid-1', 'cancel older', 'status ApprovalMissing'])
    expect(status?.commit).toBeUndefined()
    expect(status?.pullRequest).toEqual({ number: 3, headCommit: commit, headRepository: 8, baseBranch: 'main' })
  })

  test('with the approval the commit is built', async () => {
    const { effects } = await reconcile({ ...fork, approval, liveApproval: () => approval })
    expect(effects).toEqual(['token', ...fetched.slice(1), 'start http://source/x', 'status Building'])
  })

  test('a build of a fork gets no AppSecret, whatever its RemoteSync says', async () => {
    const withSecret = sync({ source, build: { ...remoteSync.spec.build, secrets: ['npm'] } }, { metadata: owned })
    const given = { remoteSync: withSecret, pullRequest, grantOf: withSecret, approval, liveApproval: () => approval }
    const { effects, status } = await reconcile({ ...given, secret: 'npm' })
    expect(effects).toEqual(['token', 'status BuildSettingRefused'])
    expect(status?.conditions?.find(({ type }) => type === 'Resolved')?.message).toContain('spec.build.secrets')
  })

  test('an approval that went before the fetch: nothing is fetched, and the slot is free', async () => {
    const { effects, slot, outcome } = await reconcile({ ...fork, approval })
    expect(effects).toEqual(['token', 'status Fetching', 'status ApprovalMissing'])
    expect(slot).toBe('free')
    expect(outcome).toEqual({ kind: 'done' })
  })

  test('an approval that went between fetch and build: nothing is built, and the source is closed', async () => {
    let looks = 0
    const liveApproval = () => (looks++ === 0 ? approval : undefined)
    const { effects, slot } = await reconcile({ ...fork, approval, liveApproval })
    expect(effects).toEqual(['token', ...fetched.slice(1), 'revoke source', 'status ApprovalMissing'])
    expect(slot).toBe('free')
  })

  test('an approval that is being deleted does not count', async () => {
    const leaving = { ...approval, metadata: { ...approval.metadata, deletionTimestamp: '2026-01-01T12:00:00Z' } }
    expect((await reconcile({ ...fork, approval: leaving, liveApproval: () => leaving })).effects).not.toContain('fetch begins')
  })

  test('a status that does not say where the head is asks GitHub again', async () => {
    const status = { observedGeneration: 1, commit, image: 'image@0', imageCommit: before }
    const old = sync({ source }, { metadata: owned, status })
    expect((await reconcile({ ...fork, remoteSync: old })).status?.pullRequest?.headRepository).toBe(8)
  })

  test('while GitHub is away, a build whose approval went is ended', async () => {
    const status = {
      observedGeneration: 1,
      commit,
      repository: { id: 7, name: 'acme/shop', requested: 'acme/shop' },
      pullRequest: { number: 3, headCommit: commit, headRepository: 8, baseBranch: 'main' },
    }
    const building = sync({ source }, { metadata: { ...owned, annotations: { 'sekisho.dev/wake': 'now' } }, status })
    const { effects } = await reconcile({
      ...fork,
      remoteSync: building,
      builds: running,
      githubError: new AppError('unavailable', 'away'),
    })
    expect(effects).toEqual(['token', 'revoke sources of uid-1', 'cancel older', 'status GitHubUnreachable'])
  })

  test('a closed pull request ends what is being built', async () => {
    const { effects } = await reconcile({ ...fork, pullRequest: { ...pullRequest, state: 'closed' }, builds: running })
    expect(effects).toEqual(['token', 'revoke sources of uid-1', 'cancel older', 'status PullRequestClosed'])
  })
})

describe('promotion', () => {
  const preview: BuiltPreview = {
    repository: 7,
    pullRequest: 3,
    tree,
    inputs: buildInputs(sync().spec),
    strategy: 'Buildpacks',
    image: 'image@2',
    commit: before,
  }

  test('the image of a preview with the same files is taken, what is being built of older commits is ended, and nothing is built', async () => {
    const { effects, status } = await reconcile({
      previews: [preview],
      builds: [{ key: { namespace: 'acme-build', name: 'older' }, ended: false }],
    })
    expect(effects).toEqual([
      'token',
      'revoke sources of uid-1',
      'cancel older',
      'apply Application image@2',
      'status RollingOut',
    ])
    expect(status).toMatchObject({
      commit,
      image: 'image@2',
      imageCommit: before,
      promoted: { commit, from: before, pullRequest: 3 },
    })
  })

  test.each<[string, Partial<BuiltPreview>, Fakes]>([
    ['of another repository', { repository: 8 }, {}],
    ['with other files', { tree: 'e'.repeat(40) }, {}],
    ['with other build settings', { inputs: 'f'.repeat(32) }, {}],
    ['whose image names another commit', { commit: 'f'.repeat(40) }, {}],
    ['whose image is about to be deleted', {}, { imagesGo: true }],
    [
      'for a commit that is being built',
      {},
      { remoteSync: sync({}, { metadata: finalized, status: { build: { name: named, commit, attempt: 1 } } }) },
    ],
  ])('a preview %s is not taken', async (_what, changes, fakes) => {
    const { effects, status } = await reconcile({ ...fakes, previews: [{ ...preview, ...changes }] })
    expect(effects).toContain('start http://source/x')
    expect(status?.promoted).toBeUndefined()
  })
})

describe('deletion', () => {
  const deleted = { ...finalized, deletionTimestamp: '2026-01-01T12:00:00Z' }
  const builds = ['one', 'two'].map(name => ({ key: { namespace: 'acme-build', name }, ended: name === 'one' }))

  test('ends builds and sources, then removes the finalizer', async () => {
    const { effects } = await reconcile({ remoteSync: sync({}, { metadata: deleted }), builds })
    expect(effects).toEqual(['cancel one', 'cancel two', 'revoke sources of uid-1', `apply ${remoteSyncs.kind} finalizer`])
  })

  test.each<[string, Fakes]>([
    ['is deleted', { slotOf: {}, remoteSync: sync({}, { metadata: deleted }) }],
    ['went without its finalizer and exists again', { slotOf: { uid: 'uid-of-the-former' }, without: 'grant' }],
  ])('a slot whose RemoteSync %s is free at once', async (_what, fakes) => {
    expect((await reconcile({ ...fakes, builds })).slot).toBe('free')
  })

  test('keeps the finalizer when a build cannot be ended', async () => {
    const cancelError = new Error('the API server is away')
    const { effects, outcome } = await reconcile({ remoteSync: sync({}, { metadata: deleted }), builds, cancelError })
    expect(effects).toEqual([])
    expect(outcome).toBe(cancelError)
  })

  test('does nothing when its finalizer is gone', async () => {
    const metadata = { ...deleted, finalizers: ['other.dev/one'] }
    expect((await reconcile({ remoteSync: sync({}, { metadata }), builds })).effects).toEqual([])
  })
})
