// The status of a Tenant from the verdict. Pure; names of namespaces are reported once they are there and filled.
import { buildNamespaceOf } from '../../api/names.ts'
import { type Tenant, tenantReasons } from '../../api/tenant.ts'
import { mergeConditions } from '../../kube/conditions.ts'
import type { Verdict } from './decide.ts'

export type TenantStatus = NonNullable<Tenant['status']>

export function nextStatus(tenant: Tenant, verdict: Verdict, now: Date): TenantStatus {
  const generation = tenant.metadata.generation ?? 0
  const { namespace } = tenant.spec
  const buildNamespace = buildNamespaceOf(namespace)
  const { conditions, ...before } = tenant.status ?? {}
  const ready =
    verdict.kind === 'fill'
      ? {
          status: 'True' as const,
          reason: tenantReasons.ready,
          message: `namespaces ${namespace} and ${buildNamespace} are ready`,
        }
      : { status: 'False' as const, reason: verdict.reason, message: verdict.message }
  return {
    ...before,
    ...(verdict.kind === 'fill' ? { namespace, buildNamespace } : {}),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, [{ type: 'Ready', ...ready }], generation, now),
  }
}
