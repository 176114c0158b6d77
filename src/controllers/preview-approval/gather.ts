// What is known about the pull requests of an AppPipeline that wait for an approval, and about the approvals that exist: from
// caches and memory only, as values. Never writes; absence is a fact and never throws.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import { followedRepository } from '../../api/capabilities/repository-follower.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { Clock } from '../../lib/clock.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import { ownedGrantName } from '../kit/repository/owned-grant.ts'
import { type Asked, askedKey, type LastAsked, withWake } from './last-asked.ts'

export type ApprovalCaches = {
  readonly pipelines: Cache<AppPipeline>
  readonly approvals: Cache<PreviewApproval>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
  readonly halts: Pick<Cache<Halt>, 'list'>
}

/** PreviewApprovals by the uid of their AppPipeline. */
export const pipelineIndex = 'preview-approval/pipeline'

/** Call once, before the caches start. */
export function addApprovalIndexes({ approvals }: Pick<ApprovalCaches, 'approvals'>): void {
  approvals.addIndex(pipelineIndex, ({ spec }) => [spec.pipeline.uid])
}

/** A row of `status.previews`. */
export type PreviewRow = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]

export type Facts = {
  readonly pipeline: AppPipeline
  readonly now: Date
  readonly rows: readonly PreviewRow[]
  /** The rows are all open pull requests, as far as GitHub said when it was last asked. */
  readonly isListed: boolean
  readonly repository: { readonly id: number } | undefined
  /** The Installation when it is ready. */
  readonly installation: Installation | undefined
  readonly grant: RepositoryGrant | undefined
  readonly halts: readonly Halt[]
  /** Of this AppPipeline. */
  readonly approvals: readonly PreviewApproval[]
  readonly wake: string | undefined
  /** What this process asked last, by number, with the present wake. */
  readonly asked: ReadonlyMap<number, Asked>
}

export type GatherDeps = { readonly caches: ApprovalCaches; readonly lastAsked: LastAsked; readonly clock: Clock }

export function gather({ caches, lastAsked, clock }: GatherDeps, pipeline: AppPipeline): Facts {
  const { metadata, spec, status } = pipeline
  const { namespace = '', uid = '' } = metadata
  const rows = status?.previews ?? []
  const installation = caches.installations.get({ namespace, name: spec.installation })
  const isReady = findCondition(installation?.status?.conditions, 'Ready')?.status === 'True'
  const wake = wakeOf(pipeline)
  return {
    pipeline,
    now: clock.now(),
    rows,
    isListed: findCondition(status?.conditions, 'Listed')?.status === 'True',
    repository: followedRepository(pipeline),
    installation: isReady ? installation : undefined,
    grant: caches.grants.get({ namespace, name: ownedGrantName(pipeline) }),
    halts: caches.halts.list(),
    approvals: caches.approvals.byIndex(pipelineIndex, uid).filter(one => one.metadata.namespace === namespace),
    wake,
    asked: new Map(
      rows.flatMap(({ number }) => {
        const asked = lastAsked.get(askedKey(uid, number))
        return asked === undefined ? [] : [[number, withWake(asked, number, wake)]]
      }),
    ),
  }
}
