// What changes about the access of an approved grant without another decision: it stops giving access or gives it again, and it
// goes on without a repository or with it again. The log has it before the status does. What it has is read, and not concluded
// from the status: whatever ended a process in between, the log is put right by the next run, also for grants that are older
// than these records. Decides nothing about the grant.
import type { AuditAction, TenantAuditRecord } from '../../../api/audit/audit-event.ts'
import { repositoryGrantReasons as reasons } from '../../../api/github/repository-grant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { InStep } from '../../kit/in-step.ts'
import type { Decision } from '../decide.ts'
import type { Facts } from '../gather.ts'
import type { Repository } from '../probe.ts'
import { about, accessDetails } from './record-decision.ts'

export type AccessLog = Pick<AuditLog, 'appendOnce' | 'list'>

/** What the log says that the grant gives; `sequence` of the newest entry that says so. */
export type Logged = { readonly gives: boolean; readonly repositoryIds: readonly number[]; readonly sequence: number }

const steps = ['grant.decided', 'grant.access-changed', 'grant.ended'] as const satisfies readonly AuditAction[]
/** Changes of single repositories since the newest step; more than the grant has repositories are never needed. */
const maxChanges = 1000

/**
 * After the decision is in the log. Reads the log only when this process does not know it to be in step with the status, or the
 * status is about to change. Rejects when the log cannot be read or written.
 */
export async function recordAccess(audit: AccessLog, inStep: InStep, facts: Facts, decision: Decision): Promise<void> {
  const uid = facts.object.metadata.uid ?? ''
  if (decision.ruling?.decision !== 'Approved' || (inStep.has(uid) && isAsBefore(facts, decision))) return
  inStep.forget(uid)
  const logged = await readLogged(audit, uid)
  for (const record of accessRecords(facts, decision, logged))
    await audit.appendOnce(record, earlier => earlier.some(entry => entry.sequence > logged.sequence && isAlike(entry, record)))
}

function isAsBefore({ object: { status } }: Facts, { ready, judged }: Decision): boolean {
  const before = findCondition(status?.conditions, 'Ready')
  const ids = status?.repositories?.map(({ id }) => id) ?? []
  return (
    before?.status === ready.status &&
    isSameSet(
      ids,
      judged.held.map(({ id }) => id),
    )
  )
}

function isSameSet(some: readonly number[], others: readonly number[]): boolean {
  return some.length === others.length && some.every(id => others.includes(id))
}

function isAlike({ outcome, details }: AuditEntry, record: TenantAuditRecord): boolean {
  return (
    outcome === record.outcome &&
    details['grantUid'] === record.details['grantUid'] &&
    isSameSet(idsOf(details['repositoryIds']), idsOf(record.details['repositoryIds']))
  )
}

function idsOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter(id => typeof id === 'number') : []
}

async function readLogged(audit: AccessLog, uid: string): Promise<Logged> {
  const newest = await Promise.all(steps.map(action => audit.list({ uid, action, limit: 1 })))
  const changes = await audit.list({ uid, action: 'grant.repository-changed', limit: maxChanges })
  return loggedIn([...newest.flat(), ...changes])
}

/** From the newest entry of each step and the changes of repositories, in any order. Pure. */
export function loggedIn(entries: readonly AuditEntry[]): Logged {
  const nothing: Logged = { gives: false, repositoryIds: [], sequence: 0 }
  return entries
    .toSorted((a, b) => a.sequence - b.sequence)
    .reduce<Logged>((before, { action, outcome, details, sequence }) => {
      const ids = idsOf(details['repositoryIds'])
      const allowed = outcome === 'allowed' && action !== 'grant.ended'
      if (action !== 'grant.repository-changed') return { gives: allowed, repositoryIds: ids, sequence }
      const others = before.repositoryIds.filter(id => !ids.includes(id))
      return { gives: before.gives, repositoryIds: allowed ? [...others, ...ids] : others, sequence }
    }, nothing)
}

/** What the log does not say yet of an approved grant; empty when it says all. Pure. */
export function accessRecords(facts: Facts, decision: Decision, logged: Logged): readonly TenantAuditRecord[] {
  const { ready, judged } = decision
  const gives = ready.status === 'True'
  // The end of the grant's time is a record of its own.
  if (ready.reason === reasons.expired || (!gives && !logged.gives)) return []
  const record = (
    action: 'grant.access-changed' | 'grant.repository-changed',
    allowed: boolean,
    { repositories, reason, message }: { repositories: readonly Repository[]; reason: string; message: string },
  ): TenantAuditRecord => ({
    ...about(facts.object),
    action,
    actor: 'sekisho:repository-grant',
    outcome: allowed ? 'allowed' : 'denied',
    reason: message,
    details: { ...accessDetails(facts, decision.ruling?.rule, repositories), cause: reason },
  })
  if (gives !== logged.gives) return [record('grant.access-changed', gives, { repositories: judged.held, ...ready })]
  const back = { reason: reasons.approved, message: 'the grant holds for the repository again' }
  return [
    ...judged.ended
      .filter(({ id }) => logged.repositoryIds.includes(id))
      .map(row => record('grant.repository-changed', false, { ...row, repositories: [row] })),
    ...judged.held
      .filter(({ id }) => !logged.repositoryIds.includes(id))
      .map(one => record('grant.repository-changed', true, { ...back, repositories: [one] })),
  ]
}
