// The effects of a reconcile and their order, with everything outside replaced by fakes. What the decisions are is tested beside them; what
// they do together on a real API server is in test/integration.
import { describe, expect, test } from 'vitest'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { KubeObject } from '../../api/resource.ts'
import { createBuildLimiter } from '../../builds/build-limiter.ts'
import type { BuildState, OwnedBuild, StartOutcome } from '../../builds/builder.ts'
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
import { type RemoteSyncDeps, reconcileRemoteSync } from './reconcile.ts'
import { application, commit, condition, installation, now, sync } from './testing/remote-sync.ts'

type Fakes = {
  readonly remoteSync?: RemoteSync
  readonly state?: BuildState
  readonly builds?: readonly OwnedBuild[]
  readonly start?: StartOutcome | Error
  readonly fetchError?: Error
  readonly cancelError?: Error
  readonly without?: 'grant' | 'application' | 'source' | 'repository' | 'branch'
}

const finalized = { ...sync().metadata, finalizers: ['sekisho.dev/remote-sync'] }
const named = buildName(sync(), commit, 1)
const key = { namespace: 'acme', name: 'shop' }

function grant(): RepositoryGrant {
  const desired = desiredOwnedGrant(sync())
  const metadata = { ...desired.metadata, uid: 'uid-g', generation: 1 }
  return {
    ...desired,
    metadata,
    status: { observedGeneration: 1, decision: 'Approved', conditions: [condition('Ready', 'True')] },
  }
}

function cacheOf<T extends KubeObject>(...items: readonly (T | undefined)[]): ObjectCache<T> {
  const store = createObjectCache<T>()
  store.replace(items.filter(item => item !== undefined))
  return store
}

/** One reconcile; resolves to what it wrote, in order, and how it ended. */
async function reconcile(fakes: Fakes = {}) {
  const effects: string[] = []
  const remoteSync = fakes.remoteSync ?? sync({}, { metadata: finalized })
  const caches: RemoteSyncDeps['caches'] = {
    remoteSyncs: createObjectCache<RemoteSync>(),
    applications: cacheOf(fakes.without === 'application' ? undefined : application()),
    installations: cacheOf({ ...installation, metadata: { name: 'github', namespace: 'acme', uid: 'uid-i' } }),
    grants: cacheOf(fakes.without === 'grant' ? undefined : grant()),
    tenants: createObjectCache(),
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
  const record = <R>(effect: string, result: R): Promise<R> => {
    effects.push(effect)
    return Promise.resolve(result)
  }
  const client = {
    get: () => Promise.resolve(undefined),
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
    sweepMilliseconds: 300_000,
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
      pullRequest: async () => undefined,
      hasCommit: async () => false,
    }),
    sources: {
      has: async () => fakes.without !== 'source',
      async ensure() {
        effects.push('fetch begins')
        await new Promise(resolve => setTimeout(resolve, 5))
        effects.push('fetch ends')
        if (fakes.fetchError) throw fakes.fetchError
        return { url: 'http://source/x' }
      },
      revoke: () => record('revoke source', undefined),
      revokeOwner: uid => record(`revoke sources of ${uid}`, undefined),
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
      known: () => false,
    },
    status: {
      latest: cached => cached,
      async write(object, status) {
        await new Promise(resolve => setTimeout(resolve, 10))
        effects.push(`status ${findCondition(status.conditions, 'Ready')?.reason}`)
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
  return { effects, outcome, status: written.status, slot: free.kind === 'acquired' ? 'free' : 'taken' }
}

/** The status takes longer than the fetch: what comes next has waited for both. */
const fetched = ['token', 'fetch begins', 'fetch ends', 'status Fetching']
const timeOf = now.toISOString()

describe('the effects of a reconcile', () => {
  test('without a grant: the grant is created', async () => {
    const { effects, status } = await reconcile({ without: 'grant' })
    expect(effects).toEqual(['create RepositoryGrant', 'status WaitingForGrant'])
    expect(status?.grant).toBe('remotesync-shop')
  })

  test('a new commit: the status beside the fetch, then the build, then the status again', async () => {
    const builds = [{ key: { namespace: 'acme-build', name: 'older' }, ended: false }]
    const { effects, status, slot, outcome } = await reconcile({ builds })
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

  const before = 'c'.repeat(40)
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

  test('without an Application nothing is built', async () => {
    expect((await reconcile({ without: 'application' })).effects).toEqual(['token', 'status ApplicationNotFound'])
  })
})

describe('deletion', () => {
  const deleted = { ...finalized, deletionTimestamp: '2026-01-01T12:00:00Z' }
  const builds = ['one', 'two'].map(name => ({ key: { namespace: 'acme-build', name }, ended: name === 'one' }))

  test('ends builds and sources, then removes the finalizer', async () => {
    const { effects } = await reconcile({ remoteSync: sync({}, { metadata: deleted }), builds })
    expect(effects).toEqual(['cancel one', 'cancel two', 'revoke sources of uid-1', `apply ${remoteSyncs.kind} finalizer`])
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
