// The wall for forks: whose commits are in another repository than the followed one was pushed by people who have no rights here. Such a commit is
// fetched and built only under a PreviewApproval of exactly that repository, pull request and commit. Pure, except for the look at the API server
// right before an effect. The approval is for previews of its AppPipeline, which fences them: a RemoteSync that a person wrote gets none.
import {
  type ApprovedHead,
  approves,
  type PreviewApproval,
  previewApproval,
  previewApprovalName,
} from '../../../api/apps/preview-approval.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { ObjectKey } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { type Halt, halt, type Stage } from '../halt.ts'
import type { RemoteSyncStatus } from '../status.ts'
import type { FollowedHead } from './pull-request.ts'

/** The kind that owns previews. */
const pipelineKind = 'AppPipeline'

/** What has to be approved: `named` is where the approval would be. Without it there cannot be one. */
export type NeededApproval = {
  readonly head: FollowedHead | undefined
  readonly named: (ApprovedHead & { readonly key: ObjectKey }) | undefined
}

/**
 * Undefined when the commit is in the followed repository itself. What is unknown needs an approval that nobody can give: a pull request about
 * which the status says nothing, or a head that is not the commit.
 */
export function neededApproval(
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
export function isApproved({ named }: NeededApproval, approval: PreviewApproval | undefined): boolean {
  if (named === undefined || approval === undefined) return false
  return approval.metadata.deletionTimestamp === undefined && approves(approval, named)
}

/** Why nothing of the commit is used at this stage. */
export function approvalMissing({ head, named }: NeededApproval, stage: Stage): Halt {
  const start = `spec.source.pullRequest: the commits of pull request ${head?.number ?? ''} are in a fork, whose owner would run code here: `
  const cure =
    named === undefined
      ? 'let an AppPipeline make a preview of it, where each commit is approved, or push the commits to a branch of the repository after a review'
      : `somebody who may write to the repository approves commit ${named.headCommit}: by the comment \`/sekisho approve ${named.headCommit}\` on it, an approving review, or sekisho previews approve`
  return halt(stage, reasons.approvalMissing, `${start}${cure}`)
}

/** A build of a fork's commit gets no AppSecret, whatever the RemoteSync says: code that runs in a build can read them. */
export function secretsRefused(
  { spec }: Pick<RemoteSync, 'spec'>,
  needed: NeededApproval | undefined,
  stage: Stage,
): Halt | undefined {
  if (needed === undefined || (spec.build.secrets ?? []).length === 0) return undefined
  const message =
    'spec.build.secrets: the commit is in a fork, whose build gets no AppSecret: remove the field, or push the commits to a branch of the repository after a review'
  return halt(stage, reasons.buildSettingRefused, message)
}

/** Asks the API server, because a cache may be behind: right before the fetch and right before the build. @throws KubeError */
export async function approvalMissingNow(
  client: Pick<KubeClient, 'get'>,
  needed: NeededApproval | undefined,
  stage: Stage,
): Promise<Halt | undefined> {
  if (needed === undefined) return undefined
  const approval = needed.named && (await client.get(previewApproval, needed.named.key))
  return isApproved(needed, approval) ? undefined : approvalMissing(needed, stage)
}
