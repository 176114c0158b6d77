// The decisions of the installer, as pure functions of the objects in the cluster.
import { type KubernetesObject, managedByLabel, managedByUs } from './kubernetes-object.ts'

export const inputsAnnotation = 'sekisho.dev/applied-inputs'

/** Who installed this kpack, by the CustomResourceDefinition builds.kpack.io. A missing one will be ours. */
export function decideOwner(buildDefinition: KubernetesObject | undefined): 'us' | 'foreign' {
  return buildDefinition === undefined || buildDefinition.metadata.labels?.[managedByLabel] === managedByUs ? 'us' : 'foreign'
}

/** Whether the builder was made from exactly these inputs (a digest) and is ready. */
export function isApplied(builder: KubernetesObject | undefined, inputs: string): boolean {
  return hasInputs(builder, inputs) && isReady(builder)
}

/** Whether the object was applied from exactly these inputs. */
export function hasInputs(object: KubernetesObject | undefined, inputs: string): boolean {
  return object?.metadata.annotations?.[inputsAnnotation] === inputs
}

type Condition = { readonly type?: unknown; readonly status?: unknown; readonly message?: unknown }
type Status = { readonly observedGeneration?: unknown; readonly conditions?: readonly Condition[] }

/** Ready for the current generation, not for an earlier one. */
export function isReady(object: KubernetesObject | undefined): boolean {
  return holds(object, 'Ready')
}

/** The same for a Deployment. */
export function isAvailable(object: KubernetesObject | undefined): boolean {
  return holds(object, 'Available')
}

function holds(object: KubernetesObject | undefined, type: string): boolean {
  const status = object?.['status'] as Status | undefined
  const observed = object !== undefined && status?.observedGeneration === object.metadata.generation
  return observed && status?.conditions?.some(condition => condition.type === type && condition.status === 'True') === true
}

/** The Ready condition of an object as text, for the message when waiting ends. */
export function readyMessage(object: KubernetesObject): string {
  const status = object['status'] as Status | undefined
  const ready = status?.conditions?.find(condition => condition.type === 'Ready')
  return `${object.kind} ${object.metadata.name}: ${ready === undefined ? 'no condition yet' : `Ready=${String(ready.status)} ${String(ready.message ?? '')}`.trim()}`
}
