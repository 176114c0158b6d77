// The status of a ServiceClass. Pure.
import { serviceClassReasons as reasons, type ServiceClass } from '../../api/services/service-class.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Decision } from './decide.ts'
import type { Facts } from './gather.ts'

export type ServiceClassStatus = NonNullable<ServiceClass['status']>

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus({ serviceClass, answer }: Facts, decision: Decision, now: Date): ServiceClassStatus {
  const generation = serviceClass.metadata.generation ?? 1
  const version = answer?.type === 'postgresql' ? answer.version : serviceClass.status?.version
  const capabilities = answer?.type === 'bucket' ? answer.capabilities : serviceClass.status?.capabilities
  return {
    observedGeneration: generation,
    conditions: mergeConditions(serviceClass.status?.conditions, conditionsOf(decision), generation, now),
    ...defined({ version, capabilities }),
  }
}

function conditionsOf({ isReachable, refusal }: Decision): readonly WantedCondition[] {
  const good = { status: 'True', reason: reasons.answering, message: 'the server answered, and can be shared' } as const
  const bad = refusal && ({ status: 'False', ...refusal } as const)
  return [
    { type: 'Reachable', ...(isReachable || bad === undefined ? good : bad) },
    { type: 'Ready', ...(bad ?? good) },
  ]
}

/** While a ServiceClass that is being deleted waits for its instances or buckets. */
export function endingStatus(serviceClass: ServiceClass, services: number, now: Date): ServiceClassStatus {
  const generation = serviceClass.metadata.generation ?? 1
  const message = `${services} ServiceInstances or Buckets have this class: delete them first (kubectl get serviceinstances,buckets -A)`
  const ready: WantedCondition = { type: 'Ready', status: 'False', reason: reasons.classInUse, message }
  const others = (serviceClass.status?.conditions ?? []).filter(({ type }) => type !== 'Ready')
  return {
    ...serviceClass.status,
    observedGeneration: generation,
    conditions: mergeConditions(serviceClass.status?.conditions, [...others, ready], generation, now),
  }
}
