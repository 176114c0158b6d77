// The effects of a reconcile and their order, with everything outside replaced by fakes. What the decisions are is tested beside them; what
// they do together on a real API server is in test/integration.
import { describe, expect, test } from 'vitest'
import { type AppSecret, appSecret } from '../../api/apps/app-secret.ts'
import type { Application } from '../../api/apps/application.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { KubeObject } from '../../api/resource.ts'
import { createBuildLimiter } from '../../builds/build-limiter.ts'
import type { BuildState, OwnedBuild, StartOutcome } from '../../builds/builder.ts'
import type { RebaseOutcome } from '../../builds/rebaser.ts'
import type { RepositoryClient } from '../../github/index.ts'
import { createObjectCache, type ObjectCache } from '../../kube/cache/object-cache.ts'
import type { Outcome } from '../../kube/controller/controller.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { desiredOwnedGrant } from '../owned-grant.ts'
import { buildName } from './desired.ts'
import { addRemoteSyncIndexes } from './gather.ts'
import { createLastChecks } from './last-checks.ts'
import { type BuiltPreview, buildInputs } from './promotion/built-preview.ts'
import { type RemoteSyncDeps, reconcileRemoteSync } from './reconcile.ts'
import { application, commit, condition, facts, installation, now, sync } from './testing/remote-sync.ts'

type Fakes = {
  readonly remoteSync?: RemoteSync
  readonly state?: BuildState
  readonly builds?: readonly OwnedBuild[]
  readonly start?: StartOutcome | Error
  readonly fetchError?: Error
  readonly cancelError?: Error
  /** Since the commit `before`. */
  readonly changedFiles?: readonly string[]
  readonly pullRequest?: Awaited<ReturnType<RepositoryClient['pullRequest']>>
  /** As the cache shows it, and as the API server answers each time. */
  readonly approval?: PreviewApproval
  readonly liveApproval?: () => PreviewApproval | undefined
  readonly previews?: readonly BuiltPreview[]
  /** The builder builds on this one now. */
  readonly runImage?: string | undefined
  readonly rebase?: RebaseOutcome
  /** Of the Application, which runs `image@1`. */
  readonly runs?: Application
  /** An AppSecret that exists. */
  readonly secret?: string
  /** The deletion of the images of ended previews has begun. */
  readonly imagesGo?: boolean
  /** The RemoteSync as it was when its grant was made. */
  readonly grantOf?: RemoteSync
  readonly githubError?: Error
  /** Who holds the only slot before the reconcile; by default this RemoteSync. */
  readonly slotOf?: { readonly uid?: string; readonly name?: string }
  readonly without?: 'grant' | 'application' | 'source' | 'repository' | 'branch'
}

const finalized = { ...sync().metadata, finalizers: ['sekisho.dev/remote-sync'] }
const before = 'c'.repeat(40)
const tree = 'd'.repeat(40)
const named = buildName(sync(), commit, 1)
const key = { namespace: 'acme', name: 'shop' }

function grant(owner = sync()): RepositoryGrant {
  const desired = desiredOwnedGrant(owner)
  const metadata = { ...desired.metadata, uid: 'uid-g', generation: 1 }
  return {
    ...desired,
    metadata,
    status: {
      observedGeneration: 1,
      decision: 'Approved',
      repositories: [{ id: 7, name: 'acme/shop' }],
      conditions: [condition('Ready', 'True')],
    },
  }
}

function cacheOf<T extends KubeObject>(...items: readonly (T | undefined)[]): ObjectCache<T> {
  const store = createObjectCache<T>()
  store.replace(items.filter(item => item !== undefined))
  return store
}

const secretOf = (name: string): AppSecret => ({
  apiVersion: appSecret.apiVersion,
  kind: appSecret.kind,
  metadata: { name, namespace: 'acme', uid: `uid-${name}` },
  spec: { sealed: {} },
})

/** One reconcile; resolves to what it wrote, in order, and how it ended. */
async function reconcile(fakes: Fakes = {}) {
  const effects: string[] = []
  let prepared = false
  const fetchEnded = Promise.withResolvers<void>()
  const remoteSync = fakes.remoteSync ?? sync({}, { metadata: finalized })
  const caches: RemoteSyncDeps['caches'] = {
    remoteSyncs: createObjectCache<RemoteSync>(),
    applications: cacheOf(fakes.without === 'application' ? undefined : (fakes.runs ?? application())),
    installations: cacheOf({ ...installation, metadata: { name: 'github', namespace: 'acme', uid: 'uid-i' } }),
    grants: cacheOf(fakes.without === 'grant' ? undefined : grant(fakes.grantOf)),
    tenants: createObjectCache(),
    appSecrets: cacheOf(fakes.secret === undefined ? undefined : secretOf(fakes.secret)),
    previewApprovals: cacheOf(fakes.approval),
  }
  addRemoteSyncIndexes(caches)
  const fill = <T extends KubeObject>(cache: unknown, item: T): void => (cache as ObjectCache<T>).replace([item])
  fill(caches.remoteSyncs, remoteSync)
  fill(caches.tenants, {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme', uid: 'uid-t' },
    spec: { namespace: 'acme' },
    status: { buildNamespace: 'acme-build' },
  })
  let written = remoteSync
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const limiter = createBuildLimiter({ running: () => [], known: () => false }, { clock, platformBuilds: 1 })
  const slot = { namespace: 'acme', name: 'shop', kind: remoteSyncs.kind, uid: 'uid-1', ...fakes.slotOf }
  if (fakes.slotOf) limiter.tryAcquire(slot, { tenant: 'acme-build', name: 'one', since: '', tenantLimit: 1 })
  const record = <R>(effect: string, result: R): Promise<R> => {
    effects.push(effect)
    return Promise.resolve(result)
  }
  const client = {
    get: (type: { kind: string }) => Promise.resolve(type.kind === 'PreviewApproval' ? fakes.liveApproval?.() : undefined),
    create: (type: { kind: string }, object: unknown) => record(`create ${type.kind}`, object),
    apply: (type: { kind: string }, object: { spec?: { image?: string } }) =>
      record(
        `apply ${type.kind} ${object.spec?.image ?? 'finalizer'}`,
        type.kind === 'Application' ? application(object.spec) : sync(),
      ),
    mergePatch: () => Promise.resolve(undefined),
    delete: (type: { kind: string }) => record(`delete ${type.kind}`, undefined),
  } as unknown as RemoteSyncDeps['client']
  const deps: RemoteSyncDeps = {
    client,
    caches,
    limiter,
    clock,
    lastChecks: createLastChecks(),
    prepareRollout: () => {
      prepared = true
    },
    awaitReports: () => undefined,
    recentPreviews: { remember: () => {}, of: () => fakes.previews ?? [] },
    imageClaims: { claim: () => fakes.imagesGo !== true },
    proofOf: async () => ({ kind: 'proven', commit: before }),
    sweepMilliseconds: 300_000,
    offer: facts().offer,
    endpointsOf: async () => ({ host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }),
    tokens: {
      request: () =>
        record('token', {
          token: new SecretString('t'),
          expiresAt: now,
          repositories: [{ id: 7, fullName: 'acme/shop' }],
          permissions: {},
          host: 'github.com',
        }),
    },
    openRepository: () => ({
      repository: async id => (fakes.without === 'repository' ? undefined : { id, fullName: 'acme/now', defaultBranch: 'main' }),
      branch: async () => (fakes.without === 'branch' ? undefined : commit),
      async pullRequest() {
        if (fakes.githubError) throw fakes.githubError
        return fakes.pullRequest
      },
      commit: async () => ({ tree, parents: [] }),
      hasCommit: async () => false,
      changedFiles: async (_id, from) => (from === before ? fakes.changedFiles : undefined),
    }),
    sources: {
      has: async () => fakes.without !== 'source',
      async ensure() {
        effects.push('fetch begins')
        await new Promise(resolve => setTimeout(resolve, 5))
        effects.push('fetch ends')
        fetchEnded.resolve()
        if (fakes.fetchError) throw fakes.fetchError
        return { url: 'http://source/x' }
      },
      revoke: () => record('revoke source', undefined),
      revokeOwner: uid => record(`revoke sources of ${uid}`, undefined),
    },
    rebaser: {
      runImageOf: () => fakes.runImage,
      async start({ key: { name }, image }) {
        effects.push(`rebase ${image} as ${name}`)
        return fakes.rebase ?? { kind: 'started' }
      },
    },
    builder: {
      async start(request) {
        effects.push(`start ${request.source.url}`)
        if (fakes.start instanceof Error) throw fakes.start
        return fakes.start ?? { kind: 'started' }
      },
      observe: async () => fakes.state ?? { kind: 'absent' },
      async cancel({ name }) {
        if (fakes.cancelError) throw fakes.cancelError
        effects.push(`cancel ${name}`)
      },
      ofOwner: () => fakes.builds ?? [],
      ofKey: () => [],
      running: () => [],
      logged: () => [],
      known: () => false,
    },
    status: {
      latest: cached => cached,
      async write(object, status) {
        const reason = findCondition(status.conditions, 'Ready')?.reason
        await new Promise(resolve => setTimeout(resolve, 5))
        // Of a fetch beside it this takes longer.
        if (reason === 'Fetching' && effects.includes('fetch begins')) await fetchEnded.promise
        effects.push(`status ${reason}`)
        written = { ...object, status }
        return written
      },
    },
  }
  const context = { key, log: silentLog, signal: new AbortController().signal, reconcileId: '1' }
  const outcome = await reconcileRemoteSync(deps, context).catch((error: unknown) => error as Error | Outcome)
  const free = limiter.tryAcquire(
    { kind: 'X', namespace: 'x', name: 'x', uid: 'x' },
    { tenant: 'x', name: 'x', since: '', tenantLimit: 1 },
  )
  return { effects, outcome, prepared, status: written.status, slot: free.kind === 'acquired' ? 'free' : 'taken' }
}

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
    expect(outcome).toEqual({ kind: 'requeue', afterMilliseconds: 60_000 })
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

describe('an image whose builder has a newer run image', () => {
  const [older = '', newer = ''] = ['a', 'b'].map(letter => `sha256:${letter.repeat(64)}`)
  const ready = { image: 'image@1', conditions: [condition('Ready', 'True')] }
  const runs = application({ image: 'image@1', commit }, ready)
  const built = { commit, image: 'image@1', imageCommit: commit, imageBuild: named, runImage: older }
  const status: NonNullable<RemoteSync['status']> = { ...built, observedGeneration: 1 }
  const remoteSync = sync({}, { metadata: finalized, status })
  const { runImage: _, ...unrecorded } = status
  const rebased = { kind: 'succeeded', image: 'image@2', runImage: newer, proof: { kind: 'proven', commit } } as const
  const run = (more: Fakes = {}) => reconcile({ remoteSync, runs, runImage: newer, ...more })
  const minute = { kind: 'requeue', afterMilliseconds: 60_000 }

  test('is rebased when all is done, which stays Ready', async () => {
    const { effects, status: after, slot } = await run()
    const name = after?.rebase?.build ?? ''
    expect(effects).toEqual(['token', `rebase image@1 as ${name}`, 'status Deployed'])
    expect(name).toMatch(/^shop-rebase-[0-9a-f]{12}$/)
    expect(after).toMatchObject({ image: 'image@1', runImage: older, rebase: { runImage: newer } })
    expect(slot).toBe('taken')
  })

  test.each<[string, Fakes]>([
    ['on the newest', { runImage: older }],
    ['of a builder that says nothing', { runImage: undefined }],
    ['that was built before run images were recorded', { remoteSync: sync({}, { metadata: finalized, status: unrecorded }) }],
    [
      'that failed for this run image',
      {
        remoteSync: sync(
          {},
          { metadata: finalized, status: { ...status, rebase: { build: 'x', runImage: newer, failure: 'no' } } },
        ),
      },
    ],
    ['that does not run', { runs: application({ image: 'image@1', commit }) }],
  ])('is left as it is: one %s', async (_what, fakes) => {
    const { effects } = await run(fakes)
    expect(effects.filter(effect => effect.startsWith('rebase'))).toEqual([])
  })

  test('waits while others build', async () => {
    const { effects, outcome } = await run({ slotOf: { uid: 'other', name: 'site' } })
    expect(effects).toEqual(['token', 'status Deployed'])
    expect(outcome).toEqual(minute)
  })

  test('that is refused is tried again, and frees its slot', async () => {
    const { outcome, slot, status: after } = await run({ rebase: { kind: 'refused', message: 'no builder' } })
    expect([outcome, slot, after?.rebase]).toEqual([minute, 'free', undefined])
  })

  test('that cannot be rebased says why, and is Ready', async () => {
    const { effects, outcome, slot, status: after } = await run({ rebase: { kind: 'impossible', message: 'the image is gone' } })
    expect(after?.rebase).toMatchObject({ runImage: newer, failure: 'the image is gone' })
    expect([outcome, slot, effects.at(-1)]).toEqual([{ kind: 'done' }, 'free', 'status Deployed'])
  })

  test('and that was rebased: the status names it before the Application gets it', async () => {
    const { effects, status: after } = await run({ state: rebased })
    expect(effects).toEqual(['token', 'status Deployed', 'apply Application image@2', 'status RollingOut'])
    expect(after).toMatchObject({
      image: 'image@2',
      imageCommit: commit,
      imageBuild: named,
      runImage: newer,
      rebase: { image: 'image@2' },
    })
  })

  test('and whose rebase names another commit is not used', async () => {
    const { effects, status: after } = await run({ state: { ...rebased, proof: { kind: 'proven', commit: before } } })
    expect(effects).toEqual(['token', 'status Deployed'])
    expect(after).toMatchObject({ image: 'image@1', rebase: { failure: expect.stringContaining('not used') } })
  })
})
