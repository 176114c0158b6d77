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

type Log = Pick<AuditLog, 'appendOnce' | 'list'>

/** Roles that are in one record: their number is in it as well. */
const maxRoles = 100
const actor = 'sekisho:tenant'

/**
 * Appends nothing when the status says that this generation was acted on, or the log has it. Rejects when the log cannot be read
 * or written.
 */
export async function recordTenantChange(audit: Log, tenant: Tenant): Promise<void> {
  const { uid = '', generation } = tenant.metadata
  if (generation === undefined || tenant.status?.observedGeneration === generation) return
  const doer = await findDoer(audit, changeTo(uid, { generation, specDigest: specDigest(tenant.spec) }))
  const record = changeRecord(tenant, generation)
  await audit.appendOnce({ ...record, actor: doer.actor ?? actor, details: { ...record.details, ...doer.details } }, earlier =>
    earlier.some(({ details }) => details['uid'] === uid && details['generation'] === generation),
  )
}

function changeRecord({ metadata, spec }: Tenant, generation: number): TenantAuditRecord {
  const { name, uid = '' } = metadata
  const { account, roles, limits } = spec
  return {
    action: 'tenant.changed',
    actor,
    namespace: spec.namespace,
    object: `Tenant/${name}`,
    outcome: 'allowed',
    reason: generation === 1 ? 'the Tenant was created' : 'the specification of the Tenant changed',
    details: {
      ...{ uid, generation, host: account.host, accountId: account.id, accountLogin: account.login },
      roles: roles.slice(0, maxRoles).map(({ role, subject }) => ({ role, subject: { ...subject } as JsonValue })),
      roleCount: roles.length,
      ...defined({ limits: limits && ({ ...limits } as JsonValue) }),
    },
  }
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
