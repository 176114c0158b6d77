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
  const version = answer?.version ?? serviceClass.status?.version
  return {
    observedGeneration: generation,
    conditions: mergeConditions(serviceClass.status?.conditions, conditionsOf(decision), generation, now),
    ...defined({ version }),
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

/** While a ServiceClass that is being deleted waits for its instances. */
export function endingStatus(serviceClass: ServiceClass, instances: number, now: Date): ServiceClassStatus {
  const generation = serviceClass.metadata.generation ?? 1
  const message = `${instances} ServiceInstances have this class: delete them first (kubectl get serviceinstances -A)`
  const ready: WantedCondition = { type: 'Ready', status: 'False', reason: reasons.classInUse, message }
  const others = (serviceClass.status?.conditions ?? []).filter(({ type }) => type !== 'Ready')
  return {
    ...serviceClass.status,
    observedGeneration: generation,
    conditions: mergeConditions(serviceClass.status?.conditions, [...others, ready], generation, now),
  }
}
