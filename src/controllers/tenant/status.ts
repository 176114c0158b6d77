// The status of a Tenant from the decision, the answer about its teams and what is known about the network. Pure; the
// namespaces are named once they exist and are filled.
import type { Installation } from '../../api/github/installation.ts'
import { buildNamespaceOf } from '../../api/names.ts'
import { type Tenant, tenantReasons } from '../../api/tenancy/tenant.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { userRangeSize } from '../../lib/limits/user-range.ts'
import type { Enforcement } from '../../services/network-probe/enforcement.ts'
import type { WallRecord } from '../../services/wall-probe/record.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import type { Decision } from './decide.ts'
import { gitHubAccessCondition } from './github-access.ts'
import { networkCondition } from './network/network-condition.ts'
import type { ClassNames } from './runtime/choose-classes.ts'
import type { TeamsAnswer } from './teams/check-teams.ts'
import { rolesResolvedCondition } from './teams/decide-teams.ts'
import { wallsCondition } from './walls/walls-condition.ts'

type TenantStatus = NonNullable<Tenant['status']>

export type Observed = {
  readonly decision: Decision
  readonly teams: TeamsAnswer
  readonly enforcement: Enforcement
  /** What the probe of the walls recorded last. */
  readonly walls: WallRecord | undefined
  /** In its namespace. */
  readonly installations: readonly Installation[]
}

/** Equal to the status before when nothing changed and GitHub was not asked. */
export function nextStatus(
  tenant: Tenant,
  { decision, teams, enforcement, walls, installations }: Observed,
  now: Date,
): TenantStatus {
  const generation = tenant.metadata.generation ?? 0
  const { conditions, runtimeClasses, ...before } = tenant.status ?? {}
  const { namespace } = tenant.spec
  const buildNamespace = buildNamespaceOf(namespace)
  const open = decision.kind === 'fill' && decision.imagesAreOpen === true
  const warning = open ? '; the image registry asks for no credential: other tenants can read and replace its images' : ''
  const message = `namespaces ${namespace} and ${buildNamespace} are ready${warning}`
  const ready: WantedCondition =
    decision.kind === 'fill'
      ? { type: 'Ready', status: 'True', reason: tenantReasons.ready, message }
      : { type: 'Ready', status: 'False', reason: decision.reason, message: decision.message }
  const made = decision.kind === 'fill' ? { namespace, buildNamespace, ...rangeOf(decision) } : {}
  return {
    ...before,
    ...made,
    ...classesOf(decision.classes ?? runtimeClasses),
    ...(teams.kind === 'known' ? checked(tenant, teams.askedAt) : {}),
    observedGeneration: generation,
    conditions: mergeConditions(
      conditions,
      [
        ready,
        rolesResolvedCondition(tenant, teams),
        gitHubAccessCondition(installations),
        networkCondition(enforcement),
        wallsCondition({ ...tenant, status: { ...before, ...made } }, walls),
      ],
      generation,
      now,
    ),
  }
}

function rangeOf({ firstUser }: { readonly firstUser?: number }): Pick<TenantStatus, 'users'> {
  return firstUser === undefined ? {} : { users: { first: firstUser, last: firstUser + userRangeSize - 1 } }
}

function classesOf(classes: ClassNames = {}): Pick<TenantStatus, 'runtimeClasses'> {
  return Object.keys(classes).length === 0 ? {} : { runtimeClasses: classes }
}

/** The status of a Tenant that is being deleted and whose namespaces do not end; `message` names what holds them. */
export function heldStatus(tenant: Tenant, message: string, now: Date): TenantStatus {
  const held: WantedCondition = { type: 'Ready', status: 'False', reason: tenantReasons.namespaceHeld, message }
  const generation = tenant.metadata.generation ?? 0
  const conditions = mergeConditions(tenant.status?.conditions, [held], generation, now)
  return { ...tenant.status, observedGeneration: generation, conditions }
}

function checked(tenant: Tenant, askedAt: Date): Pick<TenantStatus, 'teamsCheckedAt' | 'observedWake'> {
  const wake = wakeOf(tenant) ?? tenant.status?.observedWake
  return { teamsCheckedAt: askedAt.toISOString(), ...defined({ observedWake: wake }) }
}
