// Makes a PreviewApproval of what a person with write access said on a pull request, and deletes those whose commit is not the
// head any more. Reads GitHub under the grant that the AppPipeline owns; the webhook that woke it is not looked at. The only
// file that writes. Repeating it is harmless: the audit log has one record of an approval, and the name of the object contains
// the commit.

import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import { isSameApproval, previewApproval } from '../../api/apps/preview-approval.ts'
import { type AccessReader, type DiscussedPullRequest, type DiscussionClient, writerById } from '../../github/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { uidOf } from '../../kube/object/owner.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { retryMilliseconds, unreachable } from '../kit/github-unreachable.ts'
import { changeTime } from '../kit/repository/change-times.ts'
import { type AccessDeps, accessOnce, planOwnedGrant, type RepositoryAccess } from '../kit/repository/owned-grant.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type Candidate, candidatesOf, mayBeApproved, nextEnd, planQuestions, readyOf, standingOf } from './decide.ts'
import { type Approved, approvalRecord, desiredApproval } from './desired.ts'
import { type Facts, type GatherDeps, gather, type PreviewRow } from './gather.ts'
import { askedKey } from './last-asked.ts'

/** What is asked of GitHub with one token. */
export type ApprovalReader = DiscussionClient & AccessReader

export type PreviewApprovalDeps = AccessDeps &
  GatherDeps & {
    readonly client: Pick<KubeClient, 'create' | 'delete'>
    readonly audit: Pick<AuditLog, 'appendOnce'>
    readonly status: StatusWriter<PreviewApproval>
    /** `installation` is the id of the installation under which the token was requested. */
    readonly openReader: (access: RepositoryAccess, installation: number) => ApprovalReader
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
  }

export const fieldManager = 'sekisho.dev/preview-approval'
const actor = 'sekisho:preview-approval'

type Run = Pick<ReconcileContext, 'log' | 'signal'> & { readonly deps: PreviewApprovalDeps; readonly facts: Facts }
type Open = { readonly reader: ApprovalReader; readonly repository: number; readonly host: string }

/** Whose word approves the head of the pull request; undefined while nobody's does. */
async function approvalOf(
  facts: Facts,
  { reader, repository }: Open,
  { number, pullRequest }: { readonly number: number; readonly pullRequest: DiscussedPullRequest | undefined },
): Promise<Omit<Approved, 'host'> | undefined> {
  if (pullRequest === undefined || !mayBeApproved(facts, pullRequest)) return undefined
  const [comments, reviews] = await Promise.all([
    reader.approvingComments(repository, number, pullRequest.comments),
    reader.approvingReviews(repository, number),
  ])
  for (const candidate of candidatesOf(facts, { pullRequest, comments, reviews })) {
    const writer = await writerById(reader, repository, candidate.by.id)
    if (writer === undefined) continue
    const by: Candidate = { by: writer, via: candidate.via }
    return { pipeline: facts.pipeline, repository, number, headCommit: pullRequest.headCommit, by }
  }
  return undefined
}

/**
 * The audit log has it before the object exists. An object of this name that is for another commit ends first, and this one is
 * made later.
 */
async function approve({ deps, log }: Run, approved: Approved): Promise<void> {
  const record = approvalRecord(approved)
  await deps.audit.appendOnce(record, earlier => earlier.some(one => isSameApproval(one, record)))
  try {
    const { metadata } = await deps.client.create(previewApproval, desiredApproval(approved), { fieldManager })
    log.info({ approval: metadata.name, by: record.actor, via: approved.by.via }, 'preview approved')
  } catch (error) {
    if (!isKubeError(error, 409) && !isGone(error)) throw error
  }
}

/** Requests one token for all questions, when the grant of the AppPipeline gives one. */
async function open({ deps, facts }: Run): Promise<Open | undefined> {
  const { pipeline, installation, repository, grant, now } = facts
  const plan = planOwnedGrant(pipeline, grant, now)
  if (plan.kind !== 'use' || installation === undefined || repository === undefined) return undefined
  const { app, installationId, account } = installation.spec
  const access = await accessOnce(deps, { owner: pipeline, grant: plan.grant, app, actor })()
  if (access.repository.id !== repository.id) return undefined
  return { reader: deps.openReader(access, installationId), repository: repository.id, host: account.host }
}

/** Resolves to the milliseconds after which to try again; undefined when nothing is left to ask. */
async function ask(run: Run, rows: readonly PreviewRow[]): Promise<number | undefined> {
  const { deps, facts, signal, log } = run
  if (rows.length === 0) return undefined
  try {
    const opened = await open(run)
    if (opened === undefined) return undefined
    for (const { number, headCommit, updatedAt } of rows) {
      signal.throwIfAborted()
      const pullRequest = await opened.reader.pullRequest(opened.repository, number)
      const found = await approvalOf(facts, opened, { number, pullRequest })
      // What a webhook is about may have changed before the list shows it.
      const changed = changeTime(pullRequest?.updatedAt) ?? updatedAt
      const asked = { at: facts.now, wake: facts.wake, isDue: false, headCommit, updatedAt: changed }
      deps.lastAsked.set(askedKey(uidOf(facts.pipeline), number), asked)
      if (found !== undefined) await approve(run, { ...found, host: opened.host })
    }
    return undefined
  } catch (error) {
    if (!isAppError(error)) throw error
    log.info({ cause: messageOf(error) }, 'approvals cannot be read from GitHub now')
    return retryMilliseconds(unreachable(error))
  }
}

/** Before anything is asked, which may fail: the next wake replaces this one. */
function rememberWake({ lastAsked }: PreviewApprovalDeps, { pipeline, asked }: Facts): void {
  for (const [number, known] of asked) {
    const key = askedKey(uidOf(pipeline), number)
    if (lastAsked.get(key)?.wake !== known.wake) lastAsked.set(key, known)
  }
}

async function keepApprovals({ deps, facts }: Run): Promise<void> {
  for (const cached of facts.approvals) {
    if (cached.metadata.deletionTimestamp !== undefined) continue
    const approval = deps.status.latest(cached)
    if (standingOf(facts, approval).kind === 'ended') {
      await deps.client.delete(
        previewApproval,
        { namespace: approval.metadata.namespace ?? '', name: approval.metadata.name },
        { uid: uidOf(approval) },
      )
      continue
    }
    const ready = readyOf(facts, approval)
    if (ready === undefined) continue
    const generation = approval.metadata.generation ?? 1
    const conditions = mergeConditions(approval.status?.conditions, [ready], generation, facts.now)
    await deps.status.write(approval, { observedGeneration: generation, conditions })
  }
}

/** Idempotent; leaves the approvals of an AppPipeline that is being deleted to the garbage collector. */
export async function reconcilePreviewApprovals(
  deps: PreviewApprovalDeps,
  { key, log, signal }: ReconcileContext,
): Promise<Outcome> {
  const pipeline = deps.caches.pipelines.get(key)
  if (pipeline === undefined || pipeline.metadata.deletionTimestamp !== undefined) return done
  const facts = gather(deps, pipeline)
  rememberWake(deps, facts)
  const run: Run = { deps, facts, log, signal }
  await keepApprovals(run)
  const plan = planQuestions(facts, deps.sweepMilliseconds)
  const retry = await ask(run, plan.ask)
  return requeueAfterSoonest(retry, plan.requeueAfterMilliseconds, nextEnd(facts))
}
