// The wall for forks: whose commits are in another repository than the followed one was pushed by people who have no rights
// here. Such a commit is fetched and built only under a PreviewApproval of exactly that repository, pull request and commit.
// The approval is for previews of its AppPipeline, which fences them: a RemoteSync that a person wrote gets none.
import {
  type ApprovedHead,
  approves,
  type PreviewApproval,
  previewApproval,
  previewApprovalName,
} from '../../../api/apps/preview-approval.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { ObjectKey } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import type { Log } from '../../../lib/log.ts'
import { type EndDeps, endBuilds } from '../ending/end-builds.ts'
import type { Facts } from '../gather.ts'
import { type Halt, halt, type Stage } from '../halt.ts'
import type { Halted, Passed, StageResult } from '../stage.ts'
import { type RemoteSyncStatus, withoutCommit } from '../status.ts'
import type { FollowedHead } from './pull-request.ts'

/** The kind that owns previews. */
const pipelineKind = 'AppPipeline'

/** What has to be approved: `named` is where the approval would be. Without it there cannot be one. */
type NeededApproval = {
  readonly head: FollowedHead | undefined
  readonly named: (ApprovedHead & { readonly key: ObjectKey }) | undefined
}

/**
 * Undefined when the commit is in the followed repository itself. What is unknown needs an approval that nobody can give: a
 * pull request about which the status says nothing, or a head that is not the commit.
 */
function neededApproval(
  { metadata, spec }: Pick<RemoteSync, 'metadata' | 'spec'>,
  { pullRequest: head, repository }: Pick<RemoteSyncStatus, 'pullRequest' | 'repository'>,
  commit: string,
): NeededApproval | undefined {
  const { pullRequest: number, mergeCommit } = spec.source
  if (number === undefined) return undefined
  const known = head !== undefined && repository !== undefined && head.number === number
  if (!known || (mergeCommit !== true && head.headCommit !== commit)) return { head: undefined, named: undefined }
  if (head.headRepository === repository.id) return undefined
  const owner = controllerOf({ ...emptyObject, metadata })
  if (owner?.kind !== pipelineKind) return { head, named: undefined }
  const key = { namespace: metadata.namespace ?? '', name: previewApprovalName(metadata.name, head.headCommit) }
  return { head, named: { key, pipeline: owner.uid, repository: repository.id, number, headCommit: head.headCommit } }
}

const emptyObject = { apiVersion: '', kind: '' }

/** The RemoteSync for whose commit an approval of this key can be. */
export function approvedSync({ namespace, name }: ObjectKey): readonly ObjectKey[] {
  const preview = /^(.+)-[0-9a-f]{12}$/.exec(name)?.[1]
  return preview === undefined || namespace === undefined ? [] : [{ namespace, name: preview }]
}

/** Whether this is the approval that is needed. One that is being deleted does not count any more. */
function isApproved({ named }: NeededApproval, approval: PreviewApproval | undefined): boolean {
  if (named === undefined || approval === undefined) return false
  return approval.metadata.deletionTimestamp === undefined && approves(approval, named)
}

/** Why nothing of the commit is used at this stage. */
function approvalMissing({ head, named }: NeededApproval, stage: Stage): Halt {
  const start = `spec.source.pullRequest: the commits of pull request ${head?.number ?? ''} are in a fork, whose owner would run code here: `
  const cure =
    named === undefined
      ? 'let an AppPipeline make a preview of it, where each commit is approved, or push the commits to a branch of the repository after a review'
      : `somebody who may write to the repository approves commit ${named.headCommit}: by the comment \`/sekisho approve ${named.headCommit}\` on it, an approving review, or sekisho previews approve`
  return halt(stage, reasons.approvalMissing, `${start}${cure}`)
}

/** A build of a fork's commit gets no AppSecret, whatever the RemoteSync says: code that runs in a build can read them. */
function secretsRefused({ spec }: Pick<RemoteSync, 'spec'>, needed: NeededApproval | undefined): Halt | undefined {
  if (needed === undefined || (spec.build.secrets ?? []).length === 0) return undefined
  const message =
    'spec.build.secrets: the commit is in a fork, whose build gets no AppSecret: remove the field, or push the commits to a branch of the repository after a review'
  return halt('Resolved', reasons.buildSettingRefused, message)
}

export type WallDeps = Pick<EndDeps, 'builder' | 'sources'> & {
  readonly caches: { readonly previewApprovals: Pick<Cache<PreviewApproval>, 'get'> }
}

/**
 * The second stage: of a commit that nobody approved, nothing is fetched. A build of it, or of a pull request that is closed,
 * is ended, also when the stage before halted for another reason: its approval may have been withdrawn.
 */
export async function admitCommit<Values extends { readonly commit: string }>(
  { deps, facts, log }: { readonly deps: WallDeps; readonly facts: Facts; readonly log: Log },
  resolved: Halted | Passed<Values>,
): StageResult<Values> {
  const { state, halted } = resolved
  const commit = resolved.halted ? state.status.commit : resolved.commit
  const needed = commit === undefined ? undefined : neededApproval(facts.remoteSync, state.status, commit)
  const approval = needed?.named && deps.caches.previewApprovals.get(needed.named.key)
  const isRefused = needed !== undefined && !isApproved(needed, approval)
  if (isRefused || halted?.reason === reasons.pullRequestClosed) await endBuilds(deps, facts.owner, log)
  if (halted) return resolved
  const refused = isRefused ? approvalMissing(needed, 'Resolved') : secretsRefused(facts.remoteSync, needed)
  return refused === undefined ? resolved : { state: withoutCommit(state), halted: refused }
}

type Effect = {
  readonly remoteSync: RemoteSync
  readonly status: RemoteSyncStatus
  readonly commit: string
  readonly stage: Stage
}

/**
 * Carries an effect for a commit out right after the API server, and no cache, said that it may be.
 * @throws KubeError, or as the effect
 */
export async function underApproval<T>(
  client: Pick<KubeClient, 'get'>,
  { remoteSync, status, commit, stage }: Effect,
  effect: () => Promise<T>,
): Promise<{ readonly halted: Halt } | { readonly halted?: undefined; readonly done: T }> {
  const needed = neededApproval(remoteSync, status, commit)
  const approval = needed?.named && (await client.get(previewApproval, needed.named.key))
  if (needed !== undefined && !isApproved(needed, approval)) return { halted: approvalMissing(needed, stage) }
  return { done: await effect() }
}
