// Wires the GitHubReport controller: what it caches and what wakes it. Decides nothing.
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import { application } from '../../api/apps/application.ts'
import { type GitHubReport, githubReport } from '../../api/apps/github-report.ts'
import { type RemoteSync, remoteSync } from '../../api/apps/remote-sync.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { createReportClient } from '../../github/index.ts'
import { type ControllerDefinition, type Watch, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { type ReportsOf, reportsOfFollower } from '../kit/reconcile-with-finalizer.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import type { ReportCaches } from './gather.ts'
import { installationText } from './names.ts'
import { createWriteQueue } from './pace/write-queue.ts'
import { fieldManager, type ReportDeps, reconcileGitHubReport } from './reconcile.ts'
import { addSubjectIndexes, applicationIndex, previewReportKeys, remoteSyncReportKey } from './subject.ts'

export type GitHubReportControllerDeps = Pick<ReportDeps, 'tokens' | 'endpointsOf' | 'publicUrl'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  /** The id of a ClusterGitHubApp's App. */
  readonly appIdOf: (clusterGitHubApp: string) => Promise<number>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * When the reports of an installation say that they wrote: after a restart, the writes of the last hour as far as they are
 * known.
 */
function knownWrites({ reports, pipelines, remoteSyncs, installations }: ReportCaches, wanted: string): readonly number[] {
  const installationOf = ({ metadata: { namespace = '' }, spec }: GitHubReport): string | undefined => {
    const key = { namespace, name: spec.follower.name }
    const follower = spec.follower.kind === 'AppPipeline' ? pipelines.get(key) : remoteSyncs.get(key)
    const found = follower && installations.get({ namespace, name: follower.spec.installation })
    return found && installationText(found.spec)
  }
  return reports
    .list()
    .filter(report => installationOf(report) === wanted)
    .flatMap(({ status }) => (status?.writes ?? []).map(({ intendedAt }) => Date.parse(intendedAt)))
}

/** What of a RemoteSync is reported, or explains the row of its preview. */
function reportedPart(item: RemoteSync): unknown {
  const { metadata, spec, status } = item
  const isPreview = controllerOf(item)?.kind === appPipeline.kind
  if (spec.report === undefined && !isPreview) return undefined
  const { repository, commit, build, failedCommit, failure, conditions } = status ?? {}
  const ready = isPreview ? undefined : findCondition(conditions, 'Ready')
  const { generation, deletionTimestamp } = metadata
  return [generation, deletionTimestamp, repository?.id, commit, build?.name, failedCommit, failure, ready]
}

function watched(caches: ReportCaches, reportsOf: ReportsOf): readonly Watch[] {
  const ofUid = (uid: string | undefined): readonly ObjectKey[] => reportsOf(uid ?? '').map(keyOf)
  return [
    watches(appPipeline, item => [...previewReportKeys(item), ...ofUid(item.metadata.uid)], {
      predicate: partChanged(({ metadata, spec, status }) => [
        metadata.deletionTimestamp,
        spec.report,
        status?.repository?.id,
        status?.previews,
        findCondition(status?.conditions, 'Listed')?.status,
      ]),
    }),
    watches(remoteSync, item => [remoteSyncReportKey(item)], { predicate: partChanged(reportedPart) }),
    watches(
      application,
      item => [
        ...caches.remoteSyncs.byIndex(applicationIndex, keyText(keyOf(item))).map(remoteSyncReportKey),
        // The end of a preview is reported when its Application is gone.
        ...ofUid(controllerOf(item)?.uid),
      ],
      { predicate: partChanged(({ status }) => status?.url) },
    ),
    watches(repositoryGrant, grant => ofUid(controllerOf(grant)?.uid), {
      predicate: partChanged(({ metadata, status }) => [
        metadata.deletionTimestamp,
        findCondition(status?.conditions, 'Ready')?.status,
      ]),
    }),
  ]
}

/** Call before the manager starts: caches and indexes can only be added then. */
export function createGitHubReportController(deps: GitHubReportControllerDeps): ControllerDefinition {
  const { manager, clock, log, events } = deps
  const { client } = manager
  const caches: ReportCaches = {
    reports: manager.cache(githubReport),
    pipelines: manager.cache(appPipeline),
    remoteSyncs: manager.cache(remoteSync),
    applications: manager.cache(application),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
  }
  addSubjectIndexes(caches)
  const reportsOf = reportsOfFollower(caches.reports)
  const status = createStatusWriter({
    type: githubReport,
    fieldManager,
    client,
    cache: caches.reports,
    events,
    eventsOn: ['Accepted'],
  })
  const openReports: ReportDeps['openReports'] = async ({ endpoints, token }, app) =>
    createReportClient({ endpoints, token, appId: await deps.appIdOf(app), log, clock })
  const queue = createWriteQueue({ clock, known: text => knownWrites(caches, text) })
  const all = { ...deps, client, caches, status, queue, openReports }
  const definition: ControllerDefinition = {
    name: 'github-report',
    for: githubReport,
    watches: watched(caches, reportsOf),
    reconcile: context => reconcileGitHubReport(all, context),
  }
  return withMissingRights(definition, { cache: caches.reports, says: reportInStatus(status, clock), clock })
}
