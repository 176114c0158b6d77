// An AppPipeline between a GitHub and an API server in memory, for the property of the whole reconcile: pull requests change,
// GitHub fails and contradicts itself, caches are behind, processes end between two writes.
import { type AppPipeline, appPipeline } from '../../../api/apps/app-pipeline.ts'
import { application as applications } from '../../../api/apps/application.ts'
import { previewApproval } from '../../../api/apps/preview-approval.ts'
import { remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { installation as installations } from '../../../api/github/installation.ts'
import { labels, previewName, wakeAnnotation } from '../../../api/names.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { bucket as buckets } from '../../../api/services/bucket.ts'
import { serviceClass as serviceClasses } from '../../../api/services/service-class.ts'
import { serviceInstance as serviceInstances } from '../../../api/services/service-instance.ts'
import { type PullRequest, type PullRequestClient, pullRequestsOfPage } from '../../../github/index.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { mergeConditions } from '../../../kube/object/conditions.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { desiredOwnedGrant } from '../../kit/repository/owned-grant.ts'
import { createStatusWriter } from '../../kit/status-writer.ts'
import { createPullRequestMemory } from '../pull-requests/known.ts'
import { type AppPipelineDeps, fieldManager, reconcileAppPipeline } from '../reconcile.ts'
import { now, pipeline, repository } from './app-pipeline.ts'
import { Crash, createSmallClient, createSmallStorage, merged, type SmallStorage, type Stored } from './small-cluster.ts'

export const sweepMilliseconds = 300_000
const key = { namespace: 'acme', name: 'shop' }

/** How GitHub answers. `empty`: its list has nothing; `hidden`: it shows no pull request alone. */
export type Mood = 'well' | 'down' | 'empty' | 'hidden'

type SmallGitHub = {
  readonly pulls: Map<number, PullRequest>
  mood: Mood
}

/** `onAsked` is called with each pull request that GitHub shows alone. */
function clientOf(github: SmallGitHub, onAsked: (pull: PullRequest) => void): PullRequestClient {
  const mustAnswer = (): void => {
    if (github.mood === 'down') throw new AppError('unavailable', 'GitHub does not answer')
  }
  return {
    async openPullRequests(_repository, page) {
      mustAnswer()
      if (github.mood === 'empty') return []
      const open = [...github.pulls.values()].filter(({ state }) => state === 'open').sort((a, b) => b.number - a.number)
      return open.slice((page - 1) * pullRequestsOfPage, page * pullRequestsOfPage)
    },
    async pullRequest(_repository, number) {
      mustAnswer()
      const pull = github.mood === 'hidden' ? undefined : github.pulls.get(number)
      if (pull !== undefined) onAsked(pull)
      return pull
    },
    filesOf: async () => [],
    branch: async () => undefined,
    async commitSkips() {
      mustAnswer()
      return false
    },
  }
}

const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
const numberOf = ({ metadata }: KubeObject): number => Number(metadata.labels?.[labels.pullRequest])
const ready = mergeConditions([], [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'x' }], 1, now)

const servicesIn = (storage: SmallStorage): readonly Stored[] => [
  ...storage.list(serviceInstances.kind),
  ...storage.list(buckets.kind),
]

/** What other controllers have done: the Installation is ready, the grant is approved. */
function prepare(storage: SmallStorage, spec: Partial<AppPipeline['spec']>): AppPipeline {
  const made = storage.put({ ...pipeline(spec, {}), kind: appPipeline.kind }) as AppPipeline
  const decided = { decision: 'Approved', conditions: ready, repositories: [{ id: repository, name: 'acme/shop' }] }
  storage.put({ ...desiredOwnedGrant(made), status: decided })
  const { apiVersion, kind } = installations
  const offered = { allowIsolated: true }
  for (const name of ['postgresql', 'bucket']) storage.put({ ...serviceClasses, metadata: { name }, spec: offered } as Stored)
  const metadata = { name: 'github', namespace: key.namespace }
  storage.put({ apiVersion, kind, metadata, spec: { app: 'a', installationId: 1 }, status: { conditions: ready } } as Stored)
  return made
}

type ProcessDeps = Pick<AppPipelineDeps, 'clock' | 'openPullRequests'> & {
  readonly storage: SmallStorage
  readonly client: ReturnType<typeof createSmallClient>
}

/** A process with nothing in memory. */
function startProcess({ storage, client, clock, openPullRequests }: ProcessDeps): () => Promise<unknown> {
  storage.relist()
  const caches = storage.caches()
  const events = { record: () => {} }
  const deps: AppPipelineDeps = {
    ...{ client, caches, clock, events, sweepMilliseconds, openPullRequests },
    status: createStatusWriter({ type: appPipeline, client, cache: caches.pipelines, events, fieldManager }),
    memory: createPullRequestMemory(),
    awaitReports: () => undefined,
    ingress: { publicUrl: new URL('http://localhost:8080') },
    endpointsOf: async () => ({ host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }),
    tokens: {
      request: async () => ({
        ...{ token: new SecretString('t'), expiresAt: clock.now(), renewFrom: clock.now(), permissions: {} },
        repositories: [{ id: repository, fullName: 'acme/shop' }],
        endpoints: { host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' },
      }),
    },
  }
  const context = { key, log: silentLog, signal: new AbortController().signal, reconcileId: 'x' }
  return () => reconcileAppPipeline(deps, context)
}

/**
 * Nothing is open yet. `passes`: the policy in other words; with `limited`, what passes may have no preview. What is removed
 * although GitHub, asked about that pull request alone, has not said that it is closed or does not pass is in `doubtful`.
 */
export function createSmallWorld(
  spec: Partial<AppPipeline['spec']>,
  rules: { readonly passes: (pull: PullRequest) => boolean; readonly limited: boolean },
) {
  const storage = createSmallStorage()
  const github: SmallGitHub = { pulls: new Map(), mood: 'well' }
  const certain = new Set<number>()
  const doubtful: string[] = []
  let milliseconds = now.getTime()
  /** Half ones: before and after each. */
  let writesLeft = Number.POSITIVE_INFINITY
  const clock: Clock = { now: () => new Date(milliseconds), sleep: async () => {} }
  const countWrite = (): void => {
    if (writesLeft <= 0) throw new Crash()
    writesLeft -= 1
  }
  const client = createSmallClient({
    ...{ storage, beforeWrite: countWrite, afterWrite: countWrite },
    onCreate: object => void certain.delete(numberOf(object)),
    onDelete(object) {
      // What uses a service that is being deleted goes with it.
      if (servicesIn(storage).some(one => isLeaving(one) && numberOf(one) === numberOf(object))) return
      if (!certain.has(numberOf(object)) && !rules.limited) doubtful.push(`${object.kind} ${object.metadata.name}`)
    },
  })
  const reader = clientOf(github, pull => {
    if (!rules.passes(pull)) certain.add(pull.number)
  })
  const start = () => startProcess({ storage, client, clock, openPullRequests: () => reader })
  const made = prepare(storage, spec)
  let reconcile = start()
  const change = (patch: object): void => {
    const found = storage.find(appPipeline.kind, key.name)
    if (found) storage.put(merged(found, patch) as Stored)
  }
  return {
    ...{ github, clock, doubtful, version: storage.version, observe: storage.observe },
    pipeline: () => storage.find(appPipeline.kind, key.name) as AppPipeline | undefined,
    /** The numbers of the pull requests whose previews exist. */
    applications: () =>
      storage
        .list(applications.kind)
        .map(numberOf)
        .toSorted((a, b) => a - b),
    remoteSyncs: () =>
      storage
        .list(remoteSyncs.kind)
        .map(numberOf)
        .toSorted((a, b) => a - b),
    instances: () =>
      storage
        .list(serviceInstances.kind)
        .map(numberOf)
        .toSorted((a, b) => a - b),
    buckets: () =>
      storage
        .list(buckets.kind)
        .map(numberOf)
        .toSorted((a, b) => a - b),
    advance(more: number): void {
      milliseconds += more
    },
    /** A webhook has come. */
    wake: (): void => change({ metadata: { annotations: { [wakeAnnotation]: String(storage.version()) } } }),
    remove: (): void => change({ metadata: { deletionTimestamp: clock.now().toISOString() } }),
    approve(number: number, headCommit: string): void {
      const { apiVersion, kind } = previewApproval
      const name = `${previewName(key.name, number)}-${headCommit.slice(-12)}`
      const head = { pipeline: { name: key.name, uid: made.metadata.uid }, repository, number, headCommit }
      storage.put({ apiVersion, kind, metadata: { name, namespace: key.namespace }, spec: head } as Stored)
    },
    /** As the other controllers do: everything runs the newest commit, and a service ends that nothing uses. */
    runAll(): void {
      const used = new Set(storage.list(applications.kind).map(numberOf))
      for (const one of servicesIn(storage)) if (isLeaving(one) && !used.has(numberOf(one))) storage.drop(one)
      for (const object of storage.list(remoteSyncs.kind)) {
        const headCommit = github.pulls.get(numberOf(object))?.headCommit ?? ''
        const handledWake = object.metadata.annotations?.[wakeAnnotation]
        storage.put({ ...object, status: { pullRequest: { headCommit }, handledWake, conditions: ready } })
      }
    },
    /** One reconcile; it may fail. `writes`: after so many half writes the process ends, and the next one starts. */
    async reconcile(writes = Number.POSITIVE_INFINITY): Promise<void> {
      writesLeft = writes
      try {
        await reconcile()
      } catch (error) {
        if (error instanceof Crash) reconcile = start()
        else if (!(error instanceof AppError) && !(error instanceof KubeError)) throw error
      } finally {
        writesLeft = Number.POSITIVE_INFINITY
      }
    },
  }
}

export type SmallWorld = ReturnType<typeof createSmallWorld>
