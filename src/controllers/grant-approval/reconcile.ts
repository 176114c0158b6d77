// Keeps the status of one GrantApproval current, and deletes one that can never count, which would use up the quota of the
// tenant. That a grant is gone is what the API server says. The only file here that writes.
import { type GrantApproval, grantApproval, grantApprovalReasons as reasons } from '../../api/github/grant-approval.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { ObjectKey } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome } from '../../kube/controller/controller.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import { endOfApproval, isAbout, standingOfApproval } from '../../policy/grants/approvals.ts'
import { type AnswersByGrant, grantOfAnswer } from '../kit/answers-by-grant.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'

export type GrantApprovalDeps = {
  readonly client: Pick<KubeClient, 'get' | 'delete'>
  readonly approvals: Pick<Cache<GrantApproval>, 'get'>
  readonly grants: Pick<Cache<RepositoryGrant>, 'get'>
  readonly installations: Pick<Cache<Installation>, 'get'>
  readonly halts: Pick<Cache<Halt>, 'list'>
  readonly answersTo: AnswersByGrant
  readonly status: StatusWriter<GrantApproval>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Pick<Clock, 'now'>
}

/** Idempotent. */
export async function reconcileGrantApproval(deps: GrantApprovalDeps, key: ObjectKey): Promise<Outcome> {
  const { client, approvals, clock, status } = deps
  const cached = approvals.get(key)
  if (cached === undefined || cached.metadata.deletionTimestamp !== undefined) return done
  const approval = status.latest(cached)
  const named = grantOfAnswer(approval)
  const known = deps.grants.get(named)
  // A cache may not know yet what was created a moment ago.
  const grant = isAbout(approval, known) ? known : await client.get(repositoryGrant, named)
  const now = clock.now()
  const facts = { grant, host: hostOf(deps, grant), halts: deps.halts.list(), now }
  const standing = standingOfApproval(approval, facts, deps.answersTo(named))
  if (standing.kind === 'over') {
    deps.events.record(approval, { type: 'Normal', reason: 'AnswerDeleted', message: standing.message })
    await client.delete(grantApproval, key, { uid: uidOf(approval) })
    return done
  }
  const ready: WantedCondition =
    standing.kind === 'refused'
      ? { type: 'Ready', status: 'False', reason: standing.reason, message: standing.message }
      : { type: 'Ready', status: 'True', reason: reasons.counted, message: counted(approval) }
  const generation = approval.metadata.generation ?? 1
  const conditions = mergeConditions(approval.status?.conditions, [ready], generation, now)
  await status.write(approval, { observedGeneration: generation, conditions })
  const end = endOfApproval(approval)
  return requeueAfterSoonest(end && end.getTime() - now.getTime())
}

function counted(approval: GrantApproval): string {
  const { grant, requestedBy } = approval.spec
  const end = endOfApproval(approval)
  if (end === undefined) return `${requestedBy} denies RepositoryGrant ${grant.name}, until it is taken back`
  return `${requestedBy} approves RepositoryGrant ${grant.name} until ${end.toISOString()}`
}

function hostOf({ installations }: GrantApprovalDeps, grant: RepositoryGrant | undefined): string | undefined {
  if (grant === undefined) return undefined
  const { namespace = '' } = grant.metadata
  return installations.get({ namespace, name: grant.spec.installation })?.spec.account.host
}
