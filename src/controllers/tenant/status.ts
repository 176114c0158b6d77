// The status of a Tenant from the verdict. Pure; names of namespaces are reported once they are there and filled.
import { buildNamespaceOf, wakeAnnotation } from '../../api/names.ts'
import { type Tenant, tenantReasons } from '../../api/tenancy/tenant.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Verdict } from './decide.ts'
import type { TeamsAnswer } from './teams/check-teams.ts'
import { rolesResolvedCondition } from './teams/decide-teams.ts'

export type TenantStatus = NonNullable<Tenant['status']>

export function nextStatus(tenant: Tenant, verdict: Verdict, teams: TeamsAnswer, now: Date): TenantStatus {
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
    ...(teams.kind === 'known' ? checked(tenant, teams.askedAt) : {}),
    observedGeneration: generation,
    conditions: mergeConditions(
      conditions,
      [{ type: 'Ready', ...ready }, rolesResolvedCondition(tenant, teams)],
      generation,
      now,
    ),
  }
}

function checked({ metadata, status }: Tenant, askedAt: Date): Pick<TenantStatus, 'teamsCheckedAt' | 'observedWake'> {
  const wake = metadata.annotations?.[wakeAnnotation] ?? status?.observedWake
  return { teamsCheckedAt: askedAt.toISOString(), ...(wake === undefined ? {} : { observedWake: wake }) }
}
