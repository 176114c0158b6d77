// The status of a ServiceInstance. Pure.
import type { Plan } from '../../api/services/offer.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import { type PlanStand, planConditions } from '../plan.ts'
import { isoTimeOf, storageAfter } from '../standing.ts'

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

const good = { kind: 'ServiceInstance', reason: reasons.provisioned, message: 'the instance exists on the server' } as const

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(instance: ServiceInstance, observation: Observation, now: Date): ServiceInstanceStatus {
  const { metadata, status: before } = instance
  const generation = metadata.generation ?? 1
  const { id, endpoint, version, plan } = observation
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, planConditions(before?.conditions, observation, good), generation, now),
    ...defined({
      externalId: id ?? before?.externalId,
      endpoint: endpoint ?? before?.endpoint,
      version: version ?? before?.version,
      plan: plan?.name ?? before?.plan,
      usage: usageOf(before?.usage, observation, now),
    }),
  }
}

function usageOf(
  before: ServiceInstanceStatus['usage'],
  { storage: bytes, stand }: Observation,
  now: Date,
): ServiceInstanceStatus['usage'] {
  if (bytes === undefined) return before
  const overSince = stand?.overSince?.toISOString()
  const storage = storageAfter(before?.storage, bytes)
  if (before !== undefined && storage === undefined && overSince === isoTimeOf(before.overSince)) return before
  return { storage: storage ?? before?.storage ?? '1Mi', measuredAt: now.toISOString(), ...defined({ overSince }) }
}
