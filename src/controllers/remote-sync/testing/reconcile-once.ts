// One reconcile of a RemoteSync with everything outside replaced by fakes, for the unit tests of its effects and their order.
import { type AppSecret, appSecret } from '../../../api/apps/app-secret.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { PreviewApproval } from '../../../api/apps/preview-approval.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { KubeObject } from '../../../api/resource.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import { createObjectCache, type ObjectCache } from '../../../kube/cache/object-cache.ts'
import type { Outcome } from '../../../kube/controller/controller.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { BuildState, OwnedBuild, StartOutcome } from '../../../services/builds/builder.ts'
import { createBuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { BuilderBase, RebaseOutcome } from '../../../services/builds/rebaser.ts'
import { desiredOwnedGrant } from '../../kit/repository/owned-grant.ts'
import { buildName } from '../desired.ts'
import { addRemoteSyncIndexes } from '../gather.ts'
import { createLastChecks } from '../last-checks.ts'
import type { BuiltPreview } from '../promotion/built-preview.ts'
import { type RemoteSyncDeps, reconcileRemoteSync } from '../reconcile.ts'
import { application, commit, condition, facts, installation, now, sync } from './remote-sync.ts'

export type Fakes = {
  readonly remoteSync?: RemoteSync
  readonly state?: BuildState
  readonly builds?: readonly OwnedBuild[]
  readonly start?: StartOutcome | Error
  readonly fetchError?: Error
  readonly cancelError?: Error
  /** Since the commit `before`. */
  readonly changedFiles?: readonly string[]
  /** What GitHub calls the branch that is followed, and whether the message of its newest commit asks for no build. */
  readonly renamedTo?: string
  readonly skips?: boolean
  readonly pullRequest?: Awaited<ReturnType<RepositoryClient['pullRequest']>>
  /** As the cache shows it, and as the API server answers each time. */
  readonly approval?: PreviewApproval
  readonly liveApproval?: () => PreviewApproval | undefined
  readonly previews?: readonly BuiltPreview[]
  /** The builder builds on this one now. */
  readonly base?: BuilderBase | undefined
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

export const finalized = { ...sync().metadata, finalizers: ['sekisho.dev/remote-sync'] }
export const before = 'c'.repeat(40)
export const tree = 'd'.repeat(40)
/** The name of the build of the commit. */
export const named = buildName(sync(), commit, 1)
export const key = { namespace: 'acme', name: 'shop' }

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

function cachesWith(fakes: Fakes, remoteSync: RemoteSync): RemoteSyncDeps['caches'] {
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
  return caches
}

/** Adds to the list of effects. */
type Record = <R>(effect: string, result: R) => Promise<R>

/** The API server. */
function clientWith(fakes: Fakes, record: Record): RemoteSyncDeps['client'] {
  return {
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
}

/** The token desk and GitHub. */
function githubWith(fakes: Fakes, record: Record): Pick<RemoteSyncDeps, 'endpointsOf' | 'tokens' | 'openRepository'> {
  return {
    endpointsOf: async () => ({ host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }),
    tokens: {
      request: () =>
        record('token', {
          token: new SecretString('t'),
          expiresAt: now,
          renewFrom: now,
          repositories: [{ id: 7, fullName: 'acme/shop' }],
          permissions: {},
          host: 'github.com',
          endpoints: { host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' },
        }),
    },
    openRepository: () => ({
      repository: async id => (fakes.without === 'repository' ? undefined : { id, fullName: 'acme/now', defaultBranch: 'main' }),
      branch: async () => (fakes.without === 'branch' ? undefined : commit),
      branchHead: async (_id, name) =>
        fakes.without === 'branch' ? undefined : { name: fakes.renamedTo ?? name, commit, skips: fakes.skips === true },
      async pullRequest() {
        if (fakes.githubError) throw fakes.githubError
        return fakes.pullRequest
      },
      commit: async () => ({ tree, parents: [] }),
      hasCommit: async () => false,
      changedFiles: async (_id, from) => (from === before ? fakes.changedFiles : undefined),
    }),
  }
}

/** The builders. */
function builderWith(fakes: Fakes, effects: string[], onObserve: () => void): Pick<RemoteSyncDeps, 'builder' | 'rebaser'> {
  return {
    rebaser: {
      baseOf: () => fakes.base,
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
      async observe() {
        onObserve()
        return fakes.state ?? { kind: 'absent' }
      },
      async cancel({ name }) {
        if (fakes.cancelError) throw fakes.cancelError
        effects.push(`cancel ${name}`)
      },
      ofOwner: () => fakes.builds ?? [],
      ofKey: () => [],
      known: () => false,
    },
  }
}

/** One reconcile; resolves to what it wrote, in order, and how it ended. */
export async function reconcile(fakes: Fakes = {}) {
  const effects: string[] = []
  let prepared = false
  let observed = 0
  const fetchEnded = Promise.withResolvers<void>()
  const remoteSync = fakes.remoteSync ?? sync({}, { metadata: finalized })
  let written = remoteSync
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const limiter = createBuildLimiter({ running: () => [], known: () => false }, { clock, platformBuilds: 1 })
  const slot = { namespace: 'acme', name: 'shop', kind: remoteSyncs.kind, uid: 'uid-1', ...fakes.slotOf }
  if (fakes.slotOf) limiter.tryAcquire(slot, { tenant: 'acme-build', name: 'one', since: '', tenantLimit: 1 })
  const record: Record = (effect, result) => {
    effects.push(effect)
    return Promise.resolve(result)
  }
  const deps: RemoteSyncDeps = {
    ...githubWith(fakes, record),
    ...builderWith(fakes, effects, () => void observed++),
    client: clientWith(fakes, record),
    caches: cachesWith(fakes, remoteSync),
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
  return { effects, outcome, prepared, observed, status: written.status, slot: free.kind === 'acquired' ? 'free' : 'taken' }
}
