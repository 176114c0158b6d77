// What changes about the access of an approved grant without another decision: it stops giving access or gives it again, and it
// goes on without a repository or with it again. The log has it before the status does, once; from the log alone follows who
// could at any time. Decides nothing about the grant.
import type { AuditRecord, TenantAuditRecord } from '../../../api/audit/audit-event.ts'
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../../api/github/repository-grant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Decision } from '../decide.ts'
import type { Facts } from '../gather.ts'
import type { Repository } from '../probe.ts'
import { isNewRuling } from '../status.ts'
import { about, accessDetails, type DecisionLog } from './record-decision.ts'

/** What the log does not say yet when it has the decision; empty when it says all. Pure. */
export function accessRecords(facts: Facts, decision: Decision): readonly TenantAuditRecord[] {
  return [...repositoryRecords(facts, decision), ...readinessRecords(facts, decision)]
}

/** A decision has all repositories; later each that ended, and each that is back, is a record of its own. */
function repositoryRecords(facts: Facts, decision: Decision): readonly TenantAuditRecord[] {
  const { status } = facts.object
  const { ruling, judged } = decision
  if (ruling?.decision !== 'Approved' || isNewRuling(status, decision)) return []
  const before = new Set(status?.repositories?.map(({ id }) => id))
  const now = new Set(judged.held.map(({ id }) => id))
  const record = (repository: Repository, outcome: 'allowed' | 'denied', why: { reason: string; message: string }) => ({
    ...about(facts.object),
    action: 'grant.repository-changed' as const,
    actor,
    outcome,
    reason: why.message,
    details: { ...accessDetails(facts, ruling.rule, [repository]), cause: why.reason, follows: status?.checkedAt ?? '' },
  })
  return [
    ...judged.ended.filter(({ id }) => before.has(id)).map(row => record(row, 'denied', row)),
    ...judged.held
      .filter(({ id }) => !before.has(id) && now.has(id))
      .map(one => record(one, 'allowed', { reason: reasons.approved, message: 'the grant holds for the repository again' })),
  ]
}

/** Whether the log says otherwise than it is now: it was opened by an approval, and closed by a denial or a record of this kind. */
function readinessRecords(facts: Facts, decision: Decision): readonly TenantAuditRecord[] {
  const { ruling, ready, judged } = decision
  // A denial is a record, and so is the end of the grant's time.
  if (ruling?.decision !== 'Approved' || ready.reason === reasons.expired) return []
  const gives = ready.status === 'True'
  if (gives === (isNewRuling(facts.object.status, decision) || gaveAccess(facts.object.status))) return []
  return [
    {
      ...about(facts.object),
      action: 'grant.access-changed',
      actor,
      outcome: gives ? 'allowed' : 'denied',
      reason: ready.message,
      details: {
        ...accessDetails(facts, ruling.rule, judged.held),
        cause: ready.reason,
        follows: readySince(facts.object.status),
      },
    },
  ]
}

function readySince(status: RepositoryGrant['status']): string {
  return findCondition(status?.conditions, 'Ready')?.lastTransitionTime ?? ''
}

function gaveAccess(status: RepositoryGrant['status']): boolean {
  return status?.decision === 'Approved' && findCondition(status.conditions, 'Ready')?.status === 'True'
}

const actor = 'sekisho:repository-grant'

/** What makes two records the same step of the same grant: it follows on the same status. Names and messages do not count. */
function outlineOf({ action, outcome, details }: AuditRecord): readonly unknown[] {
  const subject = action === 'grant.repository-changed' ? details['repositoryIds'] : []
  return [outcome, details['grantUid'], details['follows'], subject]
}

/**
 * Appends nothing when the log has this step: after a crash before the status was written. Rejects when the log cannot be read
 * or written.
 */
export async function recordAccess(audit: DecisionLog, record: TenantAuditRecord): Promise<void> {
  await audit.appendOnce(record, earlier => earlier.some(entry => sameJson(outlineOf(entry), outlineOf(record))))
}
