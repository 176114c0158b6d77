// Conditions that scenarios wait for, and the absence of objects.
import type { Condition, KubeObject, ResourceType } from '../../../src/api/resource.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'

export const patience = { timeoutMilliseconds: limits.build }

type Conditioned = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }

function keyIn(environment: Environment, type: ResourceType, name: string, namespace: string = environment.namespace) {
  return type.namespaced ? { namespace, name } : { name }
}

/** Resolves when `Ready` has this reason for the object's current generation. */
export function ready<T extends Conditioned>(
  environment: Environment,
  type: ResourceType<T>,
  name: string,
  reason: string,
): Promise<T> {
  return waitUntil(
    `${type.kind} ${name} is ${reason}`,
    async () => {
      const object = await environment.fixture.kube.get(type, keyIn(environment, type, name))
      const condition = findCondition(object?.status?.conditions, 'Ready')
      if (object && condition?.reason === reason && condition.observedGeneration === object.metadata.generation) return object
      throw new Error(`${condition?.reason}: ${condition?.message}`)
    },
    patience,
  )
}

export function gone(environment: Environment, type: ResourceType, name: string, namespace?: string): Promise<true> {
  return waitUntil(
    `${type.kind} ${name} is gone`,
    async () => ((await environment.fixture.kube.get(type, keyIn(environment, type, name, namespace))) ? undefined : true),
    patience,
  )
}
