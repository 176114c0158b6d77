// The status of a Tenant from what was decided. Pure.
import { buildNamespaceOf } from '../../api/names.ts'
import type { Tenant } from '../../api/tenant.ts'
import { mergeConditions } from '../../kube/conditions.ts'
import type { Finding } from './decide.ts'

export type TenantStatus = NonNullable<Tenant['status']>

export function nextStatus(tenant: Tenant, finding: Finding, now: Date): TenantStatus {
  const generation = tenant.metadata.generation ?? 0
  const { namespace } = tenant.spec
  return {
    ...(finding.status === 'True' ? { namespace, buildNamespace: buildNamespaceOf(namespace) } : {}),
    observedGeneration: generation,
    conditions: mergeConditions(tenant.status?.conditions, [{ type: 'Ready', ...finding }], generation, now),
  }
}
