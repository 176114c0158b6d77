// Records a decision in the audit log, once. The log has it before the status does: after a crash in between, or a refused
// write of the status, the controller decides the same again and must not record it twice. Decides nothing.
import type { AuditRecord, TenantAuditRecord } from '../../../api/audit/audit-event.ts'
import { defined } from '../../../lib/json/defined.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { BreakGlass } from '../../../policy/grants/approvals.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { Decision } from '../decide.ts'
import { decisionInputs } from '../decision-inputs.ts'
import type { Facts } from '../gather.ts'
import type { Repository } from '../probe.ts'

export type DecisionLog = Pick<AuditLog, 'appendOnce'>

/**
 * What makes two records the same decision about the same grant. The names of repositories can change in between, so they do
 * not count.
 */
function outlineOf({ object, outcome, details }: AuditRecord): readonly unknown[] {
  const { grantUid, decision, rule, check, approvedBy } = details
  return [object, outcome, grantUid, decision, rule, check, approvedBy]
}

/**
 * Appends nothing when the latest record about this grant has the same outline. Rejects when the log cannot be read or written.
 */
export async function recordDecision(audit: DecisionLog, record: TenantAuditRecord): Promise<void> {
  await audit.appendOnce(record, earlier => {
    const latest = earlier.find(({ details }) => details['grantUid'] === record.details['grantUid'])
    return latest !== undefined && sameJson(outlineOf(latest), outlineOf(record))
  })
}

/** The break-glass without which the grant would wait; undefined when people enough have approved, or nobody has to. */
export function usedBreakGlass({ answers }: Pick<Facts, 'answers'>, ruling: Decision['ruling']): BreakGlass | undefined {
  const { breakGlass } = answers
  if (breakGlass === undefined || ruling?.decision !== 'Approved') return undefined
  return ruling.rule.startsWith(`GrantApproval/${breakGlass.name},`) ? breakGlass : undefined
}

/** Policies require five at most; a record has a bound. */
const maxApprovers = 50

/** Of the decision, with who approved it. */
export function decisionRecord(facts: Facts, { ruling, judged }: Decision): TenantAuditRecord {
  const { answer, answers, endedApprovals, object } = facts
  const approved = ruling?.decision === 'Approved'
  const approvedBy = answers.approvals.slice(0, maxApprovers).map(({ by }) => by)
  const opened = usedBreakGlass(facts, ruling)
  const repositories = approved ? judged.held : answer.kind === 'found' ? answer.repositories : []
  return {
    ...about(object),
    action: 'grant.decided',
    actor: object.spec.requestedBy,
    outcome: approved ? 'allowed' : 'denied',
    reason: `${object.spec.reason} | ${ruling?.message ?? ''}`,
    details: {
      decision: ruling?.decision ?? '',
      check: ruling?.reason ?? '',
      ...accessDetails(facts, ruling?.rule, repositories),
      delivery: object.spec.delivery,
      ...defined({ refs: object.spec.git?.refs }),
      ...(endedApprovals.length > 0 ? { departed: endedApprovals.slice(0, maxApprovers).map(({ by }) => by) } : {}),
      ...(approved && approvedBy.length > 0 ? { approvedBy } : {}),
      ...(opened === undefined
        ? {}
        : { breakGlass: { by: opened.by, reason: opened.reason, until: opened.until.toISOString() } }),
    },
  }
}

/** The object that a record of a grant is about. */
export function about({ metadata: { namespace = '', name } }: Facts['object']) {
  return { namespace, object: `RepositoryGrant/${namespace}/${name}` }
}

/** Whose access it is, by which rule, to which repositories: from each record alone follows what the grant gave from then on. */
export function accessDetails(
  { object, installation, answer }: Facts,
  rule: string | undefined,
  repositories: readonly Repository[],
): TenantAuditRecord['details'] {
  const { permissions, subjects, requestedBy } = object.spec
  const found = answer.kind === 'found' && answer.requester.kind === 'known' ? answer.requester.login : undefined
  return {
    rule: rule ?? '',
    grantUid: object.metadata.uid ?? '',
    person: requestedBy,
    ...defined({
      login: found ?? object.status?.requester?.login,
      generation: object.metadata.generation,
      host: installation?.spec.account.host,
      inputs: installation && decisionInputs(installation),
    }),
    installationId: installation?.spec.installationId ?? 0,
    repositoryIds: repositories.map(({ id }) => id),
    repositories: repositories.map(({ id, name: fullName }) => ({ id, fullName })),
    permissions: { ...permissions },
    subjects: subjects.map(({ kind, name }) => ({ kind, name })),
  }
}
