// The contract between the runtime and a controller: a kind, what else triggers it, and one function from a key to an outcome.
// README.md describes it in prose; `controller-runner.ts` implements it.
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import type { Log } from '../../lib/log.ts'
import type { Watch } from './handlers.ts'

/** The result of a reconcile that did not throw. `done`: nothing until the object changes or is due for its resync. */
export type Outcome = { readonly kind: 'done' } | { readonly kind: 'requeue'; readonly requeueAfterMilliseconds: number }

/** Nothing to do until the next trigger. */
export const done: Outcome = { kind: 'done' }

/** Reconciles the key again after this time, or earlier on a change. */
export function requeueAfter(milliseconds: number): Outcome {
  return { kind: 'requeue', requeueAfterMilliseconds: milliseconds }
}

export type ReconcileContext = {
  readonly key: ObjectKey
  readonly log: Log
  /** Aborts on timeout, on loss of leadership, and when a stop cannot wait any longer. A reconcile must end soon after. */
  readonly signal: AbortSignal
  /** In every log line of this run. */
  readonly reconcileId: string
}

/**
 * A controller. For example, with `const tenants = manager.cache(tenant)`:
 *
 *     manager.add({
 *       name: 'tenant',
 *       for: tenant,
 *       async reconcile({ key }) {
 *         const object = tenants.get(key) // undefined: deleted
 *         if (object !== undefined) await manager.client.apply(configMaps, desired(object), { fieldManager: 'tenant' })
 *         return done
 *       },
 *     })
 */
export type ControllerDefinition = {
  readonly name: string
  /** The kind whose objects are the keys. An update of the status alone does not trigger it, unless `wakesOnStatus`. */
  readonly for: ResourceType
  readonly wakesOnStatus?: boolean
  /** Kinds of children: any change of a child triggers the object that its controller ownerReference names. */
  readonly owns?: readonly ResourceType[]
  /** Limits which objects of the owned kinds are cached. */
  readonly ownsLabelSelector?: string
  readonly watches?: readonly Watch[]
  /** Number of workers, default 5. A key is never in two of them. */
  readonly concurrency?: number
  /** How many of them may work for one namespace at a time. Default: all but one. */
  readonly perTenant?: number
  /** Default 120 000. */
  readonly timeoutMilliseconds?: number
  /** Every object is reconciled again after about this time (±10 %); 0 = never. Default 10 minutes. */
  readonly resyncMilliseconds?: number
  /**
   * Receives the key only: read the object from a cache, where absent means deleted. After an error it is retried with backoff.
   */
  readonly reconcile: (context: ReconcileContext) => Promise<Outcome>
}

export { type Watch, watches } from './handlers.ts'
