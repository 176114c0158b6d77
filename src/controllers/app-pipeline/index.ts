// Wires the AppPipeline controller: what it caches and what wakes it. Decides nothing.
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import { application } from '../../api/apps/application.ts'
import { githubReport } from '../../api/apps/github-report.ts'
import { previewApproval } from '../../api/apps/preview-approval.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { createAnswerCache, createPullRequestClient, type Fetch, type GitHubMeter } from '../../github/index.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createReportWait, reportEnds, reportsOfFollower } from '../kit/reconcile-with-finalizer.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { type AppPipelineCaches, addAppPipelineIndexes, installationIndex } from './gather.ts'
import { createPullRequestMemory } from './pull-requests/known.ts'
import { type AppPipelineDeps, fieldManager, reconcileAppPipeline } from './reconcile.ts'

export type AppPipelineControllerDeps = Pick<
  AppPipelineDeps,
  'tokens' | 'endpointsOf' | 'clock' | 'events' | 'ingress' | 'sweepMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly log: Log
  /** Replaced by tests; the platform's own fetch otherwise. */
  readonly fetch?: Fetch
  readonly meter?: GitHubMeter | undefined
}

/** Pages of lists, pull requests and commits that are remembered for conditional requests. */
const rememberedAnswers = 10_000

/** Call before the manager starts: caches and indexes can only be added then. */
export function createAppPipelineController(deps: AppPipelineControllerDeps): ControllerDefinition {
  const { manager, clock, log, events } = deps
  const { client } = manager
  const caches: AppPipelineCaches = {
    pipelines: manager.cache(appPipeline),
    applications: manager.cache(application),
    remoteSyncs: manager.cache(remoteSync),
    approvals: manager.cache(previewApproval),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
    instances: manager.cache(serviceInstance),
    buckets: manager.cache(bucket),
    classes: manager.cache(serviceClass),
  }
  addAppPipelineIndexes(caches)
  const status = createStatusWriter({
    type: appPipeline,
    fieldManager,
    client,
    cache: caches.pipelines,
    events,
  })
  const cache = createAnswerCache(rememberedAnswers)
  const openPullRequests: AppPipelineDeps['openPullRequests'] = ({ endpoints, token }, installationId) => {
    const answers = { cache, scope: `${endpoints.host}/${installationId}` }
    const observe = deps.meter?.ofInstallation(endpoints.host, installationId)
    return createPullRequestClient({ endpoints, token, log, clock, answers, ...defined({ fetch: deps.fetch, observe }) })
  }
  const awaitReports = createReportWait(reportsOfFollower(manager.cache(githubReport)), clock)
  const memory = createPullRequestMemory()
  const all: AppPipelineDeps = { ...deps, client, caches, memory, openPullRequests, status, awaitReports }
  const definition: ControllerDefinition = {
    name: 'app-pipeline',
    for: appPipeline,
    owns: [repositoryGrant, application, remoteSync, serviceInstance, bucket],
    watches: [
      watches(installation, item => caches.pipelines.byIndex(installationIndex, keyText(keyOf(item))).map(keyOf), {
        predicate: partChanged(({ status }) => findCondition(status?.conditions, 'Ready')?.status),
      }),
      // A commit of a fork may run with its approval, and not without.
      watches(previewApproval, ({ metadata, spec }) => [{ namespace: metadata.namespace ?? '', name: spec.pipeline.name }], {
        predicate: partChanged(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]),
      }),
      reportEnds(appPipeline.kind),
    ],
    timeoutMilliseconds: 240_000,
    resyncMilliseconds: deps.sweepMilliseconds,
    reconcile: context => reconcileAppPipeline(all, context),
  }
  return withMissingRights(definition, { cache: caches.pipelines, says: reportInStatus(status, clock), clock })
}
