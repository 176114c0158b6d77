// What a report is about: a preview of an AppPipeline, or a RemoteSync with `spec.report`. Found by the key of the report, so
// that the first report and every later one are found the same way. From caches only.

import { previewServices } from '../../api/apps/app-pipeline/services.ts'
import { maxRows } from '../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import { usedSecrets } from '../../api/apps/application/secret-uses.ts'
import type { Application } from '../../api/apps/application.ts'
import type { GitHubReport } from '../../api/apps/github-report.ts'
import { applicationsOf } from '../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { followedRepository, type RepositoryFollower } from '../../api/capabilities/repository-follower.ts'
import { previewName } from '../../api/names.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { ownedBindingName, type ServiceUse } from '../../api/services/application-services.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { commitsOfOthers } from './answer/commit-owner.ts'
import { markerOf, type ReportContext } from './answer/desired.ts'
import { gone, type Situation, situationOfPreview, situationOfRemoteSync } from './answer/situation.ts'
import { reportName } from './names.ts'

export type SubjectCaches = {
  readonly pipelines: Cache<AppPipeline>
  readonly remoteSyncs: Cache<RemoteSync>
  readonly applications: Cache<Application>
}

/** What is reported on. */
export type Subject = {
  readonly follower: RepositoryFollower
  readonly identity: GitHubReport['spec']
  /** Undefined while nothing certain can be said. */
  readonly situation: Situation | undefined
  /** Without what the report itself knows. */
  readonly context: Omit<ReportContext, 'pendingCommit'>
  /** AppSecrets whose values a message could contain. */
  readonly secrets: readonly string[]
  /** ServiceBindings whose credentials it could contain. */
  readonly bindings: readonly string[]
}

/** RemoteSyncs and AppPipelines by the keys of their reports; RemoteSyncs that report, by the keys of their Applications. */
const reportIndex = 'github-report/report'
export const applicationIndex = 'github-report/application'

/** Call once, before the caches start. */
export function addSubjectIndexes({ pipelines, remoteSyncs }: SubjectCaches): void {
  remoteSyncs.addIndex(reportIndex, item => [keyText(remoteSyncReportKey(item))])
  remoteSyncs.addIndex(applicationIndex, item =>
    item.spec.report === undefined ? [] : applicationsOf(item.spec).map(name => keyText({ ...keyOf(item), name })),
  )
  pipelines.addIndex(reportIndex, item => previewReportKeys(item).map(keyText))
}

/** The key of the report of a RemoteSync. */
export function remoteSyncReportKey(remoteSync: RemoteSync): ObjectKey {
  const { kind } = controllerOf(remoteSync) ?? {}
  const reported = kind === appPipeline.kind ? 'AppPipeline' : 'RemoteSync'
  return { ...keyOf(remoteSync), name: reportName(reported, remoteSync.metadata.name) }
}

/** The keys of the reports of the pull requests in the status. */
export function previewReportKeys(pipeline: AppPipeline): readonly ObjectKey[] {
  return (pipeline.status?.previews ?? []).map(({ number }) => ({
    ...keyOf(pipeline),
    name: reportName('AppPipeline', previewName(pipeline.metadata.name, number)),
  }))
}

/** Of the deployments of branches. Those of previews, which share an environment, have the name of the preview, too. */
const task = 'deploy:sekisho'

export type SubjectDeps = {
  readonly caches: SubjectCaches
  /** Where people reach the broker. */
  readonly publicUrl: URL
}

/** Undefined when it does not exist (any more), or is not to be reported on. `report`: the one with that key. */
export function subjectOf(deps: SubjectDeps, key: ObjectKey, report: GitHubReport | undefined): Subject | undefined {
  const { caches } = deps
  const text = keyText(key)
  const [pipeline] = caches.pipelines.byIndex(reportIndex, text)
  const { name, uid } = report?.spec.follower ?? {}
  const former = name === undefined ? undefined : caches.pipelines.get({ namespace: key.namespace ?? '', name })
  const followed = pipeline ?? (former?.metadata.uid === uid ? former : undefined)
  if (followed !== undefined) return previewSubject(deps, followed, { key, report })
  const found = caches.remoteSyncs.byIndex(reportIndex, text).find(item => controllerOf(item)?.kind !== appPipeline.kind)
  return found === undefined ? undefined : remoteSyncSubject(deps, found)
}

type Reported = { readonly key: ObjectKey; readonly report: GitHubReport | undefined }

/** The number of the pull request whose report has this key. */
function numberOf(pipeline: AppPipeline, { key, report }: Reported): number | undefined {
  const row = (pipeline.status?.previews ?? []).find(
    ({ number }) => reportName('AppPipeline', previewName(pipeline.metadata.name, number)) === key.name,
  )
  return row?.number ?? report?.spec.pullRequest
}

/**
 * What a preview without a row is in. It has ended when GitHub was asked, its row is not only left out of a list that is too
 * long, and nothing of it exists; or when its AppPipeline is being deleted.
 */
function withoutRow(
  { caches }: SubjectDeps,
  pipeline: AppPipeline,
  name: string,
  report: GitHubReport | undefined,
): Situation | undefined {
  const { metadata, status } = pipeline
  if (metadata.deletionTimestamp !== undefined) return gone
  const { namespace = '' } = metadata
  const isOwn = (object: Application | RemoteSync | undefined): boolean =>
    object !== undefined && controllerOf(object)?.uid === metadata.uid
  if (isOwn(caches.applications.get({ namespace, name })) || isOwn(caches.remoteSyncs.get({ namespace, name }))) return undefined
  const isListed = findCondition(status?.conditions, 'Listed')?.status === 'True'
  const isCut = (status?.previews ?? []).length >= maxRows
  const hadPreview = report?.status?.writes?.some(({ kind }) => kind === 'Deployment') === true
  return isListed && (!isCut || hadPreview) ? gone : undefined
}

function bindingsOf(application: string, services: readonly ServiceUse[] = []): readonly string[] {
  return services.map(use => ownedBindingName(application, use))
}

function previewSubject(deps: SubjectDeps, pipeline: AppPipeline, reported: Reported): Subject | undefined {
  const { caches, publicUrl } = deps
  const repository = followedRepository(pipeline)
  const number = numberOf(pipeline, reported)
  if (!pipeline.spec.report || repository === undefined || number === undefined) return undefined
  const { name: pipelineName, namespace = '', uid = '', deletionTimestamp } = pipeline.metadata
  const { template } = pipeline.spec
  const name = previewName(pipelineName, number)
  const row = pipeline.status?.previews?.find(item => item.number === number)
  const child = caches.remoteSyncs.get({ namespace, name })
  const remoteSync = child !== undefined && controllerOf(child)?.uid === uid ? child : undefined
  const isThere = row !== undefined && deletionTimestamp === undefined
  return {
    follower: pipeline,
    identity: { follower: { kind: 'AppPipeline', name: pipelineName, uid }, repositoryId: repository.id, pullRequest: number },
    situation: isThere
      ? situationOfPreview(row, remoteSync, { repositoryId: repository.id, source: template.source })
      : withoutRow(deps, pipeline, name, reported.report),
    context: {
      namespace,
      name,
      publicUrl,
      pipeline: pipelineName,
      // An Application can have the name of the AppPipeline, and the name of none has a slash.
      statusContext: `sekisho/preview/${pipelineName}`,
      pullRequest: number,
      environment: `preview/${pipelineName}`,
      task: `${task}:${name}`,
      othersCommits: deletionTimestamp === undefined ? commitsOfOthers(pipeline.status?.previews ?? [], number) : [],
      marker: markerOf(['AppPipeline', namespace, pipelineName, repository.id, number]),
    },
    secrets: [...(template.build.secrets ?? []), ...usedSecrets(template.application)],
    bindings: bindingsOf(name, previewServices(pipeline.metadata, number, template)),
  }
}

function remoteSyncSubject({ caches, publicUrl }: SubjectDeps, remoteSync: RemoteSync): Subject | undefined {
  const repository = followedRepository(remoteSync)
  if (remoteSync.spec.report === undefined || repository === undefined) return undefined
  const { name, namespace = '', uid = '', deletionTimestamp } = remoteSync.metadata
  const { application: applicationName, build, report } = remoteSync.spec
  const applications = applicationsOf(remoteSync.spec).flatMap(one => caches.applications.get({ namespace, name: one }) ?? [])
  // The first that has one: a worker has none.
  const [url] = applications.flatMap(({ status }) => status?.url ?? [])
  return {
    follower: remoteSync,
    identity: { follower: { kind: 'RemoteSync', name, uid }, repositoryId: repository.id },
    situation: deletionTimestamp === undefined ? situationOfRemoteSync(remoteSync, url) : gone,
    context: {
      namespace,
      name,
      publicUrl,
      pipeline: undefined,
      pullRequest: undefined,
      statusContext: `sekisho/${applicationName}`,
      environment: report.environment ?? applicationName,
      task,
      othersCommits: [],
      marker: markerOf(['RemoteSync', namespace, name, repository.id]),
    },
    secrets: [...(build.secrets ?? []), ...new Set(applications.flatMap(({ spec }) => usedSecrets(spec)))],
    bindings: applications.flatMap(({ metadata, spec }) => bindingsOf(metadata.name, spec.services)),
  }
}
