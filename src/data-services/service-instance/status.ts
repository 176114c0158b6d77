// The status of a ServiceInstance. Pure.

import type { Plan } from '../../api/services/offer.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'

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
      usage: usageOf(before?.usage, observation.storage, now),
    }),
  }
}

function conditionsOf({ status: before }: ServiceInstance, { provisioned, refusal }: Observation): readonly WantedCondition[] {
  const good = { reason: reasons.provisioned, message: 'the instance exists on the server' }
  const known = findCondition(before?.conditions, 'Provisioned')
  const now = refusal ?? good
  const kept = known ?? { status: 'Unknown', ...now }
  return [
    provisioned === undefined ? { ...kept, type: 'Provisioned' } : { type: 'Provisioned', status: provisioned, ...now },
    { type: 'Ready', status: refusal === undefined ? 'True' : 'False', ...now },
  ]
}

function usageOf(before: ServiceInstanceStatus['usage'], bytes: number | undefined, now: Date): ServiceInstanceStatus['usage'] {
  if (bytes === undefined) return before
  const mebibytes = Math.max(1, Math.ceil(bytes / mebibyte))
  const former = /^(\d+)Mi$/.exec(String(before?.storage ?? ''))?.[1]
  if (former !== undefined && Math.abs(Number(former) - mebibytes) <= Number(former) * notable) return before
  return { storage: `${mebibytes}Mi`, measuredAt: now.toISOString() }
}
