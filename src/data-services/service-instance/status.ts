// The status of a ServiceInstance. Pure.
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Plan } from './decide.ts'
import { type PlanStand, planCondition } from './plan.ts'

export type ServiceInstanceStatus = NonNullable<ServiceInstance['status']>

/** What a reconcile came to. What is undefined stays as it was. */
export type Observation = {
  readonly id?: string
  /** Undefined: unchanged. */
  readonly provisioned?: WantedCondition['status']
  readonly refusal: Refusal | undefined
  readonly plan?: Plan
  readonly endpoint?: { readonly host: string; readonly port: number }
  readonly version?: string
  /** Bytes. */
  readonly storage?: number
  /** How it stands to its plan. */
  readonly stand?: PlanStand
}

const mebibyte = 1024 * 1024
/** A size that changed by less is not written: instances at rest write nothing. */
const notable = 0.05

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(instance: ServiceInstance, observation: Observation, now: Date): ServiceInstanceStatus {
  const { metadata, status: before } = instance
  const generation = metadata.generation ?? 1
  const { id, endpoint, version, plan } = observation
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, conditionsOf(instance, observation), generation, now),
    ...defined({
      externalId: id ?? before?.externalId,
      endpoint: endpoint ?? before?.endpoint,
      version: version ?? before?.version,
      plan: plan?.name ?? before?.plan,
      usage: usageOf(before?.usage, observation, now),
    }),
  }
}

function conditionsOf({ status: before }: ServiceInstance, observation: Observation): readonly WantedCondition[] {
  const { provisioned, stand, plan } = observation
  const ofPlan = stand === undefined || plan === undefined ? undefined : planCondition(stand, plan)
  const message = 'the instance exists on the server'
  const isRemarkable = stand !== undefined && stand.standing !== 'within'
  const good = { reason: reasons.provisioned, message: isRemarkable ? `${message}; ${ofPlan?.message}` : message }
  const ended = stand?.standing === 'ended' && ofPlan !== undefined ? ofPlan : undefined
  const refusal = observation.refusal ?? ended
  const known = findCondition(before?.conditions, 'Provisioned')
  const now = observation.refusal ?? { reason: reasons.provisioned, message }
  const kept = known ?? { status: 'Unknown', ...now }
  const knownOfPlan = ofPlan ?? findCondition(before?.conditions, 'WithinPlan')
  return [
    provisioned === undefined ? { ...kept, type: 'Provisioned' } : { type: 'Provisioned', status: provisioned, ...now },
    ...(knownOfPlan === undefined ? [] : [knownOfPlan]),
    { ...(refusal ?? good), type: 'Ready', status: refusal === undefined ? 'True' : 'False' },
  ]
}

function usageOf(
  before: ServiceInstanceStatus['usage'],
  { storage: bytes, stand }: Observation,
  now: Date,
): ServiceInstanceStatus['usage'] {
  if (bytes === undefined) return before
  const overSince = stand?.overSince?.toISOString()
  const mebibytes = Math.max(1, Math.ceil(bytes / mebibyte))
  const former = /^(\d+)Mi$/.exec(String(before?.storage ?? ''))?.[1]
  const isNear = former !== undefined && Math.abs(Number(former) - mebibytes) <= Number(former) * notable
  if (isNear && overSince === wireTimeOf(before?.overSince)) return before
  return { storage: `${mebibytes}Mi`, measuredAt: now.toISOString(), ...defined({ overSince }) }
}

const wireTimeOf = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString()

/** How it stood to its plan when that was last found, as the status says it. */
export function standBefore({ status }: ServiceInstance): PlanStand {
  const overSince = status?.usage?.overSince
  const reason = findCondition(status?.conditions, 'WithinPlan')?.reason
  return {
    standing: standings.find(([name]) => name === reason)?.[1] ?? 'within',
    overSince: overSince === undefined ? undefined : new Date(overSince),
  }
}

const standings: readonly (readonly [string, PlanStand['standing']])[] = [
  [reasons.nearPlan, 'near'],
  [reasons.overPlan, 'over'],
  [reasons.writesEnded, 'ended'],
]
