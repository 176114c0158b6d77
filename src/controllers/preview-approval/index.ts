// Wires the controller of PreviewApprovals: its keys are AppPipelines, because what waits for an approval stands in their
// status. Decides nothing.
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import { previewApproval } from '../../api/apps/preview-approval.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { createAnswerCache, createDiscussionClient, createRepositoryClient, type GitHubMeter } from '../../github/index.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import { reportInEvents, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { type ApprovalCaches, addApprovalIndexes } from './gather.ts'
import { createLastAsked } from './last-asked.ts'
import { fieldManager, type PreviewApprovalDeps, reconcilePreviewApprovals } from './reconcile.ts'

export type PreviewApprovalControllerDeps = Pick<
  PreviewApprovalDeps,
  'tokens' | 'endpointsOf' | 'audit' | 'clock' | 'sweepMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly log: Log
  readonly meter?: GitHubMeter | undefined
}

/** Call before the manager starts: caches and indexes can only be added then. */
export function createPreviewApprovalController(deps: PreviewApprovalControllerDeps): ControllerDefinition {
  const { manager, clock, log, events } = deps
  const { client } = manager
  const caches: ApprovalCaches = {
    pipelines: manager.cache(appPipeline),
    approvals: manager.cache(previewApproval),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
  }
  addApprovalIndexes(caches)
  const status = createStatusWriter({ type: previewApproval, fieldManager, client, cache: caches.approvals, events })
  const cache = createAnswerCache()
  const openReader: PreviewApprovalDeps['openReader'] = ({ endpoints, token }, installationId) => {
    const answers = { cache, scope: `${endpoints.host}/${installationId}` }
    const observe = deps.meter?.ofInstallation(endpoints.host, installationId)
    const client = { endpoints, token, log, clock, answers, ...defined({ observe }) }
    const { userById, collaboratorPermission } = createRepositoryClient(client)
    return { ...createDiscussionClient(client), userById, collaboratorPermission }
  }
  const all: PreviewApprovalDeps = { ...deps, client, caches, lastAsked: createLastAsked(), openReader, status }
  const definition: ControllerDefinition = {
    name: 'preview-approval',
    for: appPipeline,
    // Which pull requests wait, and which heads they have, stands in the status.
    wakesOnStatus: true,
    watches: [
      watches(previewApproval, ({ metadata, spec }) => [{ namespace: metadata.namespace ?? '', name: spec.pipeline.name }], {
        predicate: partChanged(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]),
      }),
    ],
    resyncMilliseconds: deps.sweepMilliseconds,
    reconcile: context => reconcilePreviewApprovals(all, context),
  }
  return withMissingRights(definition, { cache: caches.pipelines, says: reportInEvents(events), clock })
}
