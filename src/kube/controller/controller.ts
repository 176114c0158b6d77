// What a controller is: a kind, what else wakes it, and one function from a key to an outcome. The contract between the runtime
// and every `reconcile` (README.md says it in prose). The machinery that honours it is in `controller-runner.ts`.
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import type { Log } from '../../lib/log.ts'
import type { Watch } from './handlers.ts'

/** What a reconcile that did not throw asks for. `done`: sleep until something changes or the resync comes. */
export type Outcome = { readonly kind: 'done' } | { readonly kind: 'requeue'; readonly afterMilliseconds: number }

export const done: Outcome = { kind: 'done' }

export function requeueAfter(milliseconds: number): Outcome {
  return { kind: 'requeue', afterMilliseconds: milliseconds }
}

export type ReconcileContext = {
  readonly key: ObjectKey
  readonly log: Log
  /** Aborts on timeout, on loss of leadership and when a stop cannot wait any longer. A reconcile must end soon after. */
  readonly signal: AbortSignal
  /** Joins every log line of one run. */
  readonly reconcileId: string
}

export type ControllerDefinition = {
  readonly name: string
  /** Its objects are the keys. Updates that touch nothing but status do not wake it, unless `wakesOnStatus`. */
  readonly for: ResourceType
  readonly wakesOnStatus?: boolean
  /** Children: any change to one wakes the object that its controller ownerReference names. */
  readonly owns?: readonly ResourceType[]
  /** Limits what of the owned kinds is cached. */
  readonly ownsLabelSelector?: string
  readonly watches?: readonly Watch[]
  /** Workers, 5 by default. The same key is never in two of them, and one namespace's keys are never in all of them. */
  readonly concurrency?: number
  /** Default 120 000. */
  readonly timeoutMilliseconds?: number
  /** Every object again after about this long (±10 %); 0 = never. Default 10 minutes. */
  readonly resyncMilliseconds?: number
  /** The key only: read the object from a cache. Absent means deleted. Throwing means: again, with growing waits. */
  readonly reconcile: (context: ReconcileContext) => Promise<Outcome>
}

export { type Watch, watches } from './handlers.ts'
