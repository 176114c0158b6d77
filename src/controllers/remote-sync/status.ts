// The status of a RemoteSync: the fields decided so far in a reconcile, and the conditions. The stages before the halt are
// True; the stage that halted and those after it are False for its reason. Ready is True only when the Application runs the
// newest commit. Pure.
import { type RemoteSync, remoteSyncReasons as reasons } from '../../api/apps/remote-sync.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Halt, type Stage, stages } from './halt.ts'

export type RemoteSyncStatus = NonNullable<RemoteSync['status']>
type Phases = NonNullable<RemoteSyncStatus['phases']>

/** A value: every stage returns a new one. */
export type ReconcileState = {
  /** The object with the status as it was last written. */
  readonly remoteSync: RemoteSync
  /** The status to write. */
  readonly status: RemoteSyncStatus
}

/** A copy with these fields of the status replaced. */
export function withStatus(state: ReconcileState, fields: Partial<RemoteSyncStatus>): ReconcileState {
  return { ...state, status: { ...state.status, ...fields } }
}

/** A copy in which the commit is unknown: what is built from now on must be resolved again. */
export function withoutCommit(state: ReconcileState): ReconcileState {
  const { commit, tree, unbuilt, renamedBranch, ...status } = state.status
  return { ...state, status }
}

/** A copy that says which pull request is followed, if any. */
export function withPullRequest(state: ReconcileState, pullRequest: RemoteSyncStatus['pullRequest']): ReconcileState {
  const { pullRequest: _, ...status } = state.status
  return { ...state, status: { ...status, ...defined({ pullRequest }) } }
}

/** A copy that says how GitHub names the branch of the spec now, if otherwise. */
export function withRenamedBranch(state: ReconcileState, renamedBranch: RemoteSyncStatus['renamedBranch']): ReconcileState {
  const { renamedBranch: _, ...status } = state.status
  return { ...state, status: { ...status, ...defined({ renamedBranch }) } }
}

/** A copy with the tree of the commit, where it is known. */
export function withTree(state: ReconcileState, tree: string | undefined): ReconcileState {
  const { tree: _, ...status } = state.status
  return { ...state, status: { ...status, ...defined({ tree }) } }
}

/** A copy that says which commit is not built, or that every commit is. */
export function withUnbuilt(state: ReconcileState, unbuilt: RemoteSyncStatus['unbuilt']): ReconcileState {
  const { unbuilt: _, ...status } = state.status
  return { ...state, status: { ...status, ...defined({ unbuilt }) } }
}

/**
 * Records when phases of the newest commit ended, until it is available: rollbacks, restarts, further builds and newer run
 * images come later, and are not how long the commit took.
 */
export function withPhases(status: RemoteSyncStatus, times: Phases): RemoteSyncStatus {
  if (status.phases?.availableAt !== undefined) return status
  return { ...status, phases: { ...status.phases, ...times } }
}

/** A copy with these phases recorded. */
export function withTimes(state: ReconcileState, times: Phases): ReconcileState {
  return { ...state, status: withPhases(state.status, times) }
}

const doneMessages: Readonly<Record<Stage, string>> = {
  Resolved: 'the commit is known',
  Fetched: 'the source store has fetched the commit',
  Built: 'the image was built from the commit',
  Deployed: 'image and commit were set on the Application',
}

function stageConditions(halted: Halt | undefined): WantedCondition[] {
  const last = halted === undefined || halted.stage === 'Ready' ? stages.length : stages.indexOf(halted.stage)
  return stages.map((type, index) => {
    if (halted === undefined || index < last) return { type, status: 'True', reason: reasons.done, message: doneMessages[type] }
    const message = index === last ? halted.message : `waits for ${stages[last] ?? 'the stage before'}`
    return { type, status: 'False', reason: halted.reason, message }
  })
}

/** The branch is followed under its new name until GitHub gives the former one to another branch. */
function renameNote({ renamedBranch }: RemoteSyncStatus): string {
  if (renamedBranch === undefined) return ''
  const { from, to } = renamedBranch
  return `; branch ${from} was renamed to ${to} on GitHub and is followed under that name: set spec.source.branch to ${to}`
}

function readyCondition(
  halted: Halt | undefined,
  serving: boolean,
  { status, remoteSync: { spec } }: ReconcileState,
): WantedCondition {
  const { unbuilt, promoted, commit } = status
  const run = spec.otherApplications === undefined ? 'the Application runs' : 'all Applications of the spec run'
  if (!halted && promoted !== undefined && promoted.commit === commit) {
    const message = `${run} the image of pull request ${promoted.pullRequest}, which was built from commit ${promoted.from}: its files are those of commit ${commit}, so that nothing was built again`
    return { type: 'Ready', status: 'True', reason: reasons.promoted, message: `${message}${renameNote(status)}` }
  }
  if (!halted && unbuilt?.skipped === true) {
    const message = `${run} commit ${unbuilt.since}: the message of commit ${unbuilt.commit} asks to build nothing ([skip ci]); to deploy it, push a commit without these words, such as git commit --allow-empty, or set spec.source.commit to it`
    return { type: 'Ready', status: 'True', reason: reasons.commitSkipped, message: `${message}${renameNote(status)}` }
  }
  if (!halted && unbuilt !== undefined) {
    const message = `${run} commit ${unbuilt.since}: nothing under spec.paths has changed since, up to commit ${unbuilt.commit}`
    return { type: 'Ready', status: 'True', reason: reasons.pathsUnchanged, message: `${message}${renameNote(status)}` }
  }
  if (!halted)
    return {
      type: 'Ready',
      status: 'True',
      reason: reasons.deployed,
      // Without a time, which would change the status at every check.
      message: `${run} the commit that was the newest when GitHub was last asked${renameNote(status)}`,
    }
  const note = `${serving ? ' (the version before keeps serving)' : ''}${renameNote(status)}`
  return { type: 'Ready', status: 'False', reason: halted.reason, message: `${halted.message}${note}`.slice(0, 4096) }
}

/** A build that does not wait, for whatever reason, has no place. */
function withoutPlace({ build, ...status }: RemoteSyncStatus): RemoteSyncStatus {
  if (build === undefined) return status
  const { queue, ...rest } = build
  return { ...status, build: rest }
}

/** The status to write: the fields of the state, with the generation and the conditions that the halt implies. */
export function nextStatus(state: ReconcileState, halted: Halt | undefined, now: Date): RemoteSyncStatus {
  const { remoteSync, status } = state
  const generation = remoteSync.metadata.generation ?? 1
  const serving = status.image !== undefined && halted?.stage !== 'Ready' && halted?.reason !== reasons.applicationNotFound
  const wanted = [...stageConditions(halted), readyCondition(halted, serving, state)]
  return {
    ...(halted?.reason === reasons.queued ? status : withoutPlace(status)),
    observedGeneration: generation,
    conditions: mergeConditions(remoteSync.status?.conditions, wanted, generation, now),
  }
}
