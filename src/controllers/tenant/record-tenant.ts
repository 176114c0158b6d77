// The records of a Tenant: what its specification says from now on, and its end, with who did it where that is known. The log has
// a change before the controller acts on it; after a crash in between it is found there and not recorded twice. Decides nothing.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { specDigest } from '../../api/audit/spec-digest.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { changeTo, deletionOf, findDoer } from '../../store/audit/find-doer.ts'
import { recordEndBy } from '../../store/audit/record-end.ts'
import type { InStep } from '../kit/in-step.ts'

type Log = Pick<AuditLog, 'appendOnce' | 'list'>

/** Roles that are in one record: their number is in it as well. */
const maxRoles = 100
const actor = 'sekisho:tenant'

/**
 * Appends nothing when the log has this generation. One that was acted on is looked for there once in each process: a Tenant that
 * is older than these records gets its first one. Rejects when the log cannot be read or written.
 */
export async function recordTenantChange(audit: Log, inStep: InStep, tenant: Tenant): Promise<void> {
  const { uid = '', generation } = tenant.metadata
  const isActedOn = tenant.status?.observedGeneration === generation
  if (generation === undefined || (isActedOn && inStep.has(uid))) return
  inStep.forget(uid)
  const [newest] = isActedOn ? await audit.list({ uid, action: 'tenant.changed', limit: 1 }) : []
  if (newest?.details['generation'] !== generation) await append(audit, tenant, generation)
  inStep.add(uid)
}

async function append(audit: Log, tenant: Tenant, generation: number): Promise<void> {
  const { uid = '' } = tenant.metadata
  const doer = await findDoer(audit, changeTo(uid, { generation, specDigest: specDigest(tenant.spec) }))
  const record = changeRecord(tenant, generation)
  await audit.appendOnce({ ...record, actor: doer.actor ?? actor, details: { ...record.details, ...doer.details } }, earlier =>
    earlier.some(({ details }) => details['uid'] === uid && details['generation'] === generation),
  )
}

function changeRecord({ metadata, spec, status }: Tenant, generation: number): TenantAuditRecord {
  const { name, uid = '' } = metadata
  const { account, roles, limits } = spec
  return {
    action: 'tenant.changed',
    actor,
    namespace: spec.namespace,
    object: `Tenant/${name}`,
    outcome: 'allowed',
    reason: reasonOf(status?.observedGeneration, generation),
    details: {
      ...{ uid, generation, host: account.host, accountId: account.id, accountLogin: account.login },
      roles: roles.slice(0, maxRoles).map(({ role, subject }) => ({ role, subject: { ...subject } as JsonValue })),
      roleCount: roles.length,
      ...defined({ limits: limits && ({ ...limits } as JsonValue) }),
    },
  }
}

function reasonOf(observed: number | undefined, generation: number): string {
  if (observed === generation) return 'the log had no record of what the Tenant says'
  return generation === 1 ? 'the Tenant was created' : 'the specification of the Tenant changed'
}

/** Rejects when the log cannot be read or written: the Tenant then stays, and has ended otherwise. */
export function recordTenantEnd(audit: Log, { metadata, spec }: Tenant): Promise<void> {
  const { name, uid = '', deletionTimestamp } = metadata
  const record = {
    action: 'tenant.ended',
    actor,
    namespace: spec.namespace,
    object: `Tenant/${name}`,
    outcome: 'allowed',
    reason: 'the Tenant was deleted',
    details: {
      ...{ host: spec.account.host, accountId: spec.account.id, uid, cause: 'Deleted' },
      ...defined({ causeAt: deletionTimestamp }),
    },
  } as const
  return recordEndBy(audit, record, deletionOf(uid, deletionTimestamp))
}
