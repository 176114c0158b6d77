// What a preview or a RemoteSync is in now, as far as it concerns people on GitHub. The rest of the platform's states (waiting
// for GitHub, for a grant, for a registry) are not reported: what stands on GitHub stays until something else is certain. Pure.
import { isOfStranger } from '../../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, appPipelineReasons as pipelineReasons } from '../../../api/apps/app-pipeline.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import { isResolved, stateOfUnready, type UnreadyState } from '../../../api/reasons/remote-sync-state.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition } from '../../../kube/object/conditions.ts'

export type Phase =
  | 'Waiting'
  | 'WaitingForApproval'
  | 'LeftOut'
  | 'Building'
  | 'Running'
  | 'Failed'
  | 'Conflict'
  | 'Paused'
  /** Nothing under `spec.paths` has changed since the commit that runs. */
  | 'Unchanged'
  | 'Skipped'
  /** It does not exist any more, and nothing of it is left. */
  | 'Gone'

export type Situation = {
  readonly phase: Phase
  /** The commit that it is about; undefined while none is known. */
  readonly commit: string | undefined
  /** Since when, as the status says it. */
  readonly since: string | undefined
  /** Where the application answers. */
  readonly url: string | undefined
  /** The name of the build. */
  readonly build: string | undefined
  /** Why, with text of others in it. */
  readonly reason: string | undefined
  readonly message: string | undefined
  /** Whether anything of it exists, such as the pods of an earlier commit. */
  readonly exists: boolean
  /** Its commit is in a fork, and nothing was built of it: only strangers have decided about it. */
  readonly isUnapproved: boolean
}

const causeOnly = /\n\(step [^\n]* failed: /

/** The first sentence of a failure: what follows is the end of the log, which people read on the platform. */
export function causeIn(message: string): string {
  const at = message.search(causeOnly)
  return at > 0 ? message.slice(0, at) : (message.split('\n')[0] ?? '')
}

/** What is said of the commit of a branch; the rest is about the platform, or about no commit that is known. */
const certain: readonly UnreadyState[] = ['Building', 'Failed', 'Conflict']

/** Of a commit that is not built, while an earlier one runs. */
const unbuilt: ReadonlyMap<string, Phase> = new Map([
  [reasons.pathsUnchanged, 'Unchanged'],
  [reasons.commitSkipped, 'Skipped'],
])

function phaseOf(object: RemoteSync, ready: Condition): Phase | undefined {
  if (ready.status === 'True') return unbuilt.get(ready.reason) ?? 'Running'
  const state = stateOfUnready(object, ready)
  return certain.includes(state) && (isResolved(object) || state === 'Conflict') ? state : undefined
}

/** Undefined when nothing certain can be said now. `url`: of its Application. */
export function situationOfRemoteSync(remoteSync: RemoteSync, url: string | undefined): Situation | undefined {
  const { metadata, status } = remoteSync
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready === undefined || status === undefined || ready.observedGeneration !== metadata.generation) return undefined
  const phase = phaseOf(remoteSync, ready)
  if (phase === undefined || status.commit === undefined) return undefined
  const isFailed = phase === 'Failed'
  return {
    phase,
    commit: status.commit,
    since: ready.lastTransitionTime,
    url: phase === 'Running' ? url : undefined,
    build: status.build?.commit === status.commit ? status.build.name : undefined,
    reason: isFailed ? ready.reason : undefined,
    message: isFailed ? causeIn(status.failure?.message ?? ready.message) : undefined,
    exists: true,
    isUnapproved: false,
  }
}

/** A row of `status.previews`. */
export type PreviewRow = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]

/** What explains itself: its reason and message would repeat it. */
const plain: readonly PreviewRow['state'][] = ['Building', 'Running', 'WaitingForApproval', 'Paused']

export type PreviewOrigin = {
  /** The one that is followed. */
  readonly repositoryId: number
  readonly source: string
}

/**
 * Undefined while the preview is being removed: what stands on GitHub stays until nothing is left of it. `remoteSync`: of the
 * preview, if it exists. A commit is the head of the pull request also when its merge commit is built.
 */
export function situationOfPreview(
  row: PreviewRow,
  remoteSync: RemoteSync | undefined,
  { repositoryId, source }: PreviewOrigin,
): Situation | undefined {
  const { state, headCommit, since, url, application } = row
  if (state === 'Removing') return undefined
  const { build, commit } = remoteSync?.status ?? {}
  // The RemoteSync may not know the newest commit yet.
  const isCurrent = commit !== undefined && (commit === headCommit || source === 'Merge')
  return {
    phase: state,
    commit: headCommit,
    since,
    url: state === 'Running' ? url : undefined,
    build: isCurrent && build?.commit === commit ? build.name : undefined,
    ...whyOf(row, isCurrent ? remoteSync : undefined),
    exists: application !== undefined,
    isUnapproved: isOfStranger(row, repositoryId),
  }
}

/** `current`: the RemoteSync, if it is about the commit of the row: its failure begins with the cause. */
function whyOf({ state, reason, message }: PreviewRow, current: RemoteSync | undefined): Pick<Situation, 'reason' | 'message'> {
  if (plain.includes(state)) return { reason: undefined, message: undefined }
  const { commit, failedCommit, failure } = current?.status ?? {}
  const isOfBuild = state === 'Failed' && failure !== undefined && failedCommit === commit
  return isOfBuild ? { reason: failure.reason, message: causeIn(failure.message) } : { reason, message }
}

const worthTelling: readonly string[] = [pipelineReasons.limitReached, pipelineReasons.idle]

/**
 * Whether people on GitHub hear of it although they heard nothing before. Pull requests that the policy excludes do not: a
 * comment on each would be noise, and nobody expects a preview there.
 */
export function isWorthTelling({ phase, reason }: Situation): boolean {
  if (phase === 'LeftOut') return reason !== undefined && worthTelling.includes(reason)
  return phase !== 'Gone' && phase !== 'Paused'
}

/** It ended, and nothing of it is left. */
export const gone: Situation = {
  phase: 'Gone',
  commit: undefined,
  since: undefined,
  url: undefined,
  build: undefined,
  reason: undefined,
  message: undefined,
  exists: false,
  isUnapproved: false,
}
