// The status of a ServiceInstance. Pure.
import type { Plan } from '../../api/services/offer.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import { standingOf, storageAfter } from '../standing.ts'
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

const good = { reason: reasons.provisioned, message: 'the instance exists on the server' }

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
  const { stand, plan } = observation
  const ofPlan = stand === undefined || plan === undefined ? undefined : planCondition(stand, plan)
  const isRemarkable = stand !== undefined && stand.standing !== 'within'
  const [provisioned, ready] = standingOf(before?.conditions, observation, good)
  const knownOfPlan = ofPlan ?? findCondition(before?.conditions, 'WithinPlan')
  return [
    provisioned,
    ...(knownOfPlan === undefined ? [] : [knownOfPlan]),
    ...(observation.refusal === undefined && ofPlan !== undefined && isRemarkable ? [readyOverPlan(stand, ofPlan)] : [ready]),
  ]
}

/** An instance that takes what its plan has, or more. */
function readyOverPlan({ standing }: PlanStand, ofPlan: WantedCondition): WantedCondition {
  if (standing === 'ended') return { ...ofPlan, type: 'Ready', status: 'False' }
  return { ...good, message: `${good.message}; ${ofPlan.message}`, type: 'Ready', status: 'True' }
}

function usageOf(
  before: ServiceInstanceStatus['usage'],
  { storage: bytes, stand }: Observation,
  now: Date,
): ServiceInstanceStatus['usage'] {
  if (bytes === undefined) return before
  const overSince = stand?.overSince?.toISOString()
  const storage = storageAfter(before?.storage, bytes)
  if (before !== undefined && storage === undefined && overSince === wireTimeOf(before.overSince)) return before
  return { storage: storage ?? before?.storage ?? '1Mi', measuredAt: now.toISOString(), ...defined({ overSince }) }
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
