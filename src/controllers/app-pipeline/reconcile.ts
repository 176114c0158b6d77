// Keeps the previews of one AppPipeline, in stages: gather what is known, observe GitHub (and choose, pure), apply the choice,
// report. Every run starts from what exists; what a run did not come to is found by the next one, because the labels and owner
// of what exists say to which pull request it belongs.
import { type AppPipeline, appPipeline as appPipelines } from '../../api/apps/app-pipeline.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Outcome, ReconcileContext } from '../../kube/controller/controller.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { uidOf } from '../../kube/object/owner.ts'
import { type ReportWait, reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { outcomeOf } from '../kit/refusal.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type ApplyDeps, applyPreviews, removePreviews } from './apply-previews.ts'
import { type AppPipelineCaches, gather } from './gather.ts'
import { type ObserveDeps, observeGitHub } from './observe/observe-github.ts'
import { eventsOf, nextStatus } from './status.ts'

/** The fields beside `fieldManager`, which is the same in all processes. */
export type AppPipelineDeps = Omit<ObserveDeps & ApplyDeps, 'client' | 'fieldManager'> & {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
  readonly caches: AppPipelineCaches
  readonly status: StatusWriter<AppPipeline>
  readonly awaitReports: ReportWait
  readonly events: Pick<EventRecorder, 'record'>
}

export const fieldManager = 'sekisho.dev/app-pipeline'
const finalizer = fieldManager

/** What the cluster refuses today it may accept later, such as after a quota is raised; GitHub's list may be complete again. */
const refusedRetryMilliseconds = 60_000
/** The deletion of the last object wakes the AppPipeline; this is for one whose event is lost. */
const endMilliseconds = 30_000

async function keep(deps: AppPipelineDeps, pipeline: AppPipeline, { signal }: ReconcileContext): Promise<Outcome> {
  const facts = gather(deps, pipeline)
  const view = await observeGitHub({ ...deps, fieldManager }, facts, signal)
  const { known, entries, halt } = view
  const { refused, waits } = await applyPreviews(
    { ...deps, fieldManager },
    { pipeline, entries, known, classes: facts.classes },
    signal,
  )
  const status = nextStatus({ ...view, pipeline, now: deps.clock.now(), refused })
  await deps.status.write(pipeline, status)
  for (const event of eventsOf(pipeline.status, status)) deps.events.record(pipeline, event)
  const isIncomplete = known !== undefined && known.missing.size > 0
  return outcomeOf(halt, ...waits, refused.size > 0 || isIncomplete ? refusedRetryMilliseconds : undefined)
}

/** Removes all previews, and waits until they are gone. */
async function end(deps: AppPipelineDeps, pipeline: AppPipeline): Promise<Outcome | undefined> {
  const uid = uidOf(pipeline)
  deps.memory.delete(uid)
  const { previews } = gather(deps, pipeline)
  const waits = await removePreviews({ ...deps, fieldManager }, pipeline, [...previews.values()])
  return previews.size > 0 ? requeueAfterSoonest(endMilliseconds, ...waits) : deps.awaitReports(uid)
}

/** @throws what the API server or GitHub answered where a retry may help */
export function reconcileAppPipeline(deps: AppPipelineDeps, context: ReconcileContext): Promise<Outcome> {
  const { client, status, caches } = deps
  return reconcileWithFinalizer(
    {
      type: appPipelines,
      finalizer,
      client,
      cache: caches.pipelines,
      status,
      keep: pipeline => keep(deps, pipeline, context),
      end: pipeline => end(deps, pipeline),
    },
    context,
  )
}
