// Says in conditions how a RemoteSync stands: what is behind it is True, where it stopped is False with the reason, what comes after is
// False for the same reason. Pure. Ready is True only when the Application runs what was built from the newest commit.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { type RemoteSyncStatus, reasons, type Stage, type Stop, stages } from './progress.ts'

const doneMessages: Readonly<Record<Stage, string>> = {
  Resolved: 'the commit is known',
  Fetched: 'the source store had the commit',
  Built: 'the image was built from the commit',
  Deployed: 'the Application was told',
}

function stageConditions(stopped: Stop | undefined): WantedCondition[] {
  const last = stopped === undefined || stopped.stage === 'Ready' ? stages.length : stages.indexOf(stopped.stage)
  return stages.map((type, index) => {
    if (stopped === undefined || index < last) return { type, status: 'True', reason: 'Done', message: doneMessages[type] }
    const message = index === last ? stopped.message : `waits for ${stages[last] ?? 'the stage before'}`
    return { type, status: 'False', reason: stopped.reason, message }
  })
}

function readyCondition(stopped: Stop | undefined, serving: boolean): WantedCondition {
  if (!stopped)
    return { type: 'Ready', status: 'True', reason: reasons.deployed, message: 'the Application runs the newest commit' }
  const note = serving ? ' (the version before keeps serving)' : ''
  return { type: 'Ready', status: 'False', reason: stopped.reason, message: `${stopped.message}${note}`.slice(0, 4096) }
}

/** `draft` holds the fields the reconcile decided; conditions and generation are added here. */
export function nextStatus(
  remoteSync: RemoteSync,
  draft: RemoteSyncStatus,
  stopped: Stop | undefined,
  now: Date,
): RemoteSyncStatus {
  const generation = remoteSync.metadata.generation ?? 1
  const serving = draft.image !== undefined && stopped?.stage !== 'Ready'
  const wanted = [...stageConditions(stopped), readyCondition(stopped, serving)]
  return {
    ...draft,
    observedGeneration: generation,
    conditions: mergeConditions(remoteSync.status?.conditions, wanted, generation, now),
  }
}
