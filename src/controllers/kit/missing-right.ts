// Says on an object which right the platform lacks, where, and what cures it, when RBAC refuses its controller. The error is
// thrown again, so that it is logged and retried with backoff; what quotas, Pod Security and policies refuse is no missing
// right (`lacksRight`). It takes nothing back: the next reconcile that succeeds writes the status anew.
import { roleBindings } from '../../api/builtin/index.ts'
import { controllersBinding, labels, namespacesOf, platformNamespace } from '../../api/names.ts'
import { rightMissing as missing } from '../../api/reasons/reason.ts'
import { type Condition, type KubeObject, keyOf } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { lacksRight, missingRight } from '../../kube/client/errors.ts'
import { type ControllerDefinition, type Watch, watches } from '../../kube/controller/controller.ts'
import { findCondition, mergeConditions } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { Refusal } from '../../policy/check.ts'
import type { StatusWriter } from './status-writer.ts'

type Status = { readonly conditions?: readonly Condition[] }
type Reporting<S extends Status> = KubeObject & { readonly status?: S }

/** Authorizers learn of a new binding within a second; with a slow API server within some. */
const authorizerMilliseconds = 20_000
const maxMessage = 1000
const index = 'missing-right/namespace'

/**
 * Where Kubernetes keeps Events about objects without a namespace: a right there comes from deploy/rbac, as in the platform's
 * own.
 */
const ownPlaces: readonly string[] = [platformNamespace, 'default']

function cureOf(namespace: string | undefined): string {
  const again = 'a platform admin applies the roles of the platform again (deploy/rbac)'
  if (namespace === undefined || ownPlaces.includes(namespace)) return again
  const look = `kubectl describe rolebinding ${controllersBinding} -n ${namespace}`
  return `the controller of the Tenant puts the RoleBinding ${controllersBinding} there back; when its role was changed, ${again}. See \`${look}\``
}

function messageFor(error: unknown): string {
  const right = missingRight(error)
  if (right === undefined) return `the platform lacks a right: ${messageOf(error)}: ${cureOf(undefined)}`
  const { verb, resource, group, namespace, why } = right
  const what = `${verb} ${resource}${group === '' ? '' : ` (${group})`}`
  const where = namespace === undefined ? 'in the cluster' : `in namespace ${namespace}`
  return `the platform lacks the right to ${what} ${where}${why ? ` (${why})` : ''}: ${cureOf(namespace)}`
}

/**
 * What an object says when its controller lacks a right. Undefined after any other error, and while the authorizer may not have
 * learned of rights that were given a moment ago, with a namespace: that is not a reason to call an object unusable.
 */
export function rightMissing({ metadata, status }: Reporting<Status>, error: unknown, now: Date): Refusal | undefined {
  if (!lacksRight(error)) return undefined
  const since = findCondition(status?.conditions, 'Ready')?.lastTransitionTime ?? metadata.creationTimestamp
  if (since === undefined || now.getTime() - Date.parse(since) < authorizerMilliseconds) return undefined
  return { reason: missing.names.rightMissing, message: messageFor(error).slice(0, maxMessage) }
}

/**
 * The conditions with Ready False for this reason. Every other field of the status stays as it was, above all
 * `observedGeneration`, because the reconcile did not get to the end of this generation.
 */
export function withRightMissing({ metadata, status }: Reporting<Status>, refusal: Refusal, now: Date): Condition[] {
  const conditions = status?.conditions ?? []
  const others = conditions.filter(({ type }) => type !== 'Ready')
  const ready = mergeConditions(conditions, [{ type: 'Ready', status: 'False', ...refusal }], metadata.generation ?? 1, now)
  return [...others, ...ready].sort((a, b) => compareText(a.type, b.type))
}

type Says<T extends KubeObject> = (object: T, refusal: Refusal) => Promise<unknown>

/** For a controller that reports in the status of its own kind. Writes nothing when the status says it already. */
export function reportInStatus<S extends Status, T extends Reporting<S>>(
  status: StatusWriter<T>,
  clock: Pick<Clock, 'now'>,
): Says<T> {
  return async (cached, refusal) => {
    const object = status.latest(cached)
    // Every other field of a status is optional (`src/api/kind.ts`), which the compiler cannot know here.
    const changed: unknown = { ...object.status, conditions: withRightMissing(object, refusal, clock.now()) }
    await status.write(object, changed as NonNullable<T['status']>)
  }
}

/** For a controller whose keys are objects of which another one writes the status. */
export function reportInEvents(events: Pick<EventRecorder, 'record'>): Says<KubeObject> {
  return async (object, { reason, message }) => events.record(object, { type: 'Warning', reason, message })
}

export type MissingRightDeps<T extends KubeObject> = {
  /** Of `definition.for`. */
  readonly cache: Pick<Cache<T>, 'get' | 'addIndex' | 'byIndex'>
  readonly says: Says<T>
  readonly clock: Pick<Clock, 'now'>
}

function waitingNamespaces({ metadata: { namespace }, status }: Reporting<Status>): readonly string[] {
  const isMissing = findCondition(status?.conditions, 'Ready')?.reason === missing.names.rightMissing
  return isMissing && namespace !== undefined ? namespacesOf(namespace) : []
}

/** A RoleBinding that was put back wakes what waits for it, in a tenant's namespace that is its own or whose builds run in it. */
function bindingWakes<T extends Reporting<Status>>(cache: Pick<Cache<T>, 'addIndex' | 'byIndex'>): Watch {
  cache.addIndex(index, waitingNamespaces)
  const waiting = (namespace: string): readonly T[] => cache.byIndex(index, namespace)
  // The cache of the Tenant controller.
  const scope = { labelSelector: labels.tenant }
  return watches(roleBindings, ({ metadata }) => waiting(metadata.namespace ?? '').map(keyOf), scope)
}

/** The controller, which says what right it lacks. Call before the manager starts. */
export function withMissingRights<T extends Reporting<Status>>(
  definition: ControllerDefinition,
  { cache, says, clock }: MissingRightDeps<T>,
): ControllerDefinition {
  return {
    ...definition,
    watches: [...(definition.watches ?? []), bindingWakes(cache)],
    async reconcile(context) {
      try {
        return await definition.reconcile(context)
      } catch (error) {
        const object = cache.get(context.key)
        const refusal = object && rightMissing(object, error, clock.now())
        if (object !== undefined && refusal !== undefined)
          await says(object, refusal).catch((cause: unknown) => {
            context.log.error({ error: cause, right: refusal.message }, 'failed to say in the status that a right is missing')
          })
        throw error
      }
    },
  }
}
