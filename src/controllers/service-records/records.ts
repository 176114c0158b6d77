// What the audit log has about services of tenants and their credentials: a function of what data-services reports in the status,
// which nobody else can write. Pure. A record says what has happened; each is one for its object, slot and time, so that saying
// it again adds nothing.

import { application } from '../../api/apps/application.ts'
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import type { Bucket } from '../../api/services/bucket.ts'
import type { EndCause, ServiceBinding } from '../../api/services/service-binding.ts'
import { serviceFinalizers } from '../../api/services/service-finalizers.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { defined } from '../../lib/json/defined.ts'

const actor = 'sekisho:data-services'

/** What has records of its own. */
export type Recorded = ServiceInstance | Bucket | ServiceBinding

/** Whether data-services has done with an object that is being deleted, or somebody said that it has. */
export function isEnded({ metadata: { deletionTimestamp, finalizers = [] } }: Recorded): boolean {
  return deletionTimestamp !== undefined && !finalizers.some(one => serviceFinalizers.some(own => own === one))
}

/** In the order in which it happened. */
export function serviceRecords(service: ServiceInstance | Bucket): readonly TenantAuditRecord[] {
  const { kind, status, spec } = service
  const externalId = status?.externalId
  if (externalId === undefined) return []
  const { namespace = '', name, uid = '' } = service.metadata
  const about = {
    actor,
    namespace,
    object: `${kind}/${namespace}/${name}`,
    details: { uid, class: spec.class, externalId, ...defined({ plan: status?.plan, bucket: bucketOf(service) }) },
  }
  const isProvisioned = findCondition(status?.conditions, 'Provisioned')?.status === 'True'
  const provisioned = { ...about, action: 'service.provisioned', outcome: 'allowed', reason: 'it exists on the server' } as const
  return [...(isProvisioned ? [provisioned] : []), ...(isEnded(service) ? [endOf(about, kind, status?.end)] : [])]
}

/** The name in the store, which is not always the external id. */
function bucketOf(service: ServiceInstance | Bucket): string | undefined {
  return service.status !== undefined && 'bucket' in service.status ? service.status.bucket : undefined
}

type About = Pick<TenantAuditRecord, 'actor' | 'namespace' | 'object' | 'details'>

function endOf(about: About, kind: string, end: 'Kept' | 'Deleted' | undefined): TenantAuditRecord {
  const reason = `the ${kind} was deleted`
  if (end === 'Deleted') return { ...about, action: 'service.deleted', outcome: 'allowed', reason }
  if (end === 'Kept') return { ...about, action: 'service.kept', outcome: 'allowed', reason }
  return { ...about, action: 'service.kept', outcome: 'failed', reason: `${reason}, and its finalizer removed by somebody` }
}

/** In the order in which it happened, of each credential. */
export function bindingRecords(binding: ServiceBinding): readonly TenantAuditRecord[] {
  const { slots = [], ended = [] } = binding.status ?? {}
  const issued = slots.filter(({ state }) => state !== 'Making')
  const replaced = issued.filter(({ state }) => state === 'Draining')
  const record = recordsOf(binding)
  return [
    ...[...ended, ...issued].map(one => record('credential.issued', one, 'it was tried, and the Secret holds it')),
    ...replaced.map(one => record('credential.replaced', one, 'the Secret holds another one', defined({ until: one.until }))),
    ...ended.map(one => record('credential.revoked', one, endText(one), defined({ endedAt: one.endedAt, cause: one.cause }))),
    ...(isEnded(binding)
      ? issued.map(one => ({
          ...record('credential.revoked', one, 'the ServiceBinding was deleted, and its finalizer removed by somebody'),
          outcome: 'failed' as const,
        }))
      : []),
  ]
}

function endText({ cause }: { readonly cause?: EndCause }): string {
  return cause === undefined
    ? 'it ended on the server'
    : 'its sessions had taken most locks of the server: the platform closed it'
}

type Credential = { readonly slot: string; readonly issuedAt: string }
type CredentialAction = 'credential.issued' | 'credential.replaced' | 'credential.revoked'

function recordsOf(binding: ServiceBinding) {
  const { namespace = '', name, uid = '' } = binding.metadata
  const owner = controllerOf(binding)
  const { service, access, prefix } = binding.spec
  return (
    action: CredentialAction,
    { slot, issuedAt }: Credential,
    reason: string,
    more: Readonly<Record<string, string>> = {},
  ): TenantAuditRecord => ({
    action,
    actor,
    namespace,
    object: `ServiceBinding/${namespace}/${name}`,
    outcome: 'allowed',
    reason,
    details: {
      ...{ uid, kind: service.kind, service: service.name, access, slot, issuedAt },
      ...defined({ prefix, application: owner?.kind === application.kind ? owner.name : undefined }),
      ...more,
    },
  })
}

/** Equal for the records of the same happening. */
export function happeningOf({ action, details }: Pick<TenantAuditRecord, 'action' | 'details'>): string {
  return JSON.stringify([action, details['uid'], details['slot'] ?? '', details['issuedAt'] ?? ''])
}
