// What does not end in a namespace that is being deleted: which pods are forced, and what the namespace is held by. Pure.
import { maxGraceSeconds } from '../../../api/apps/application/process.ts'
import type { Namespace, Pod } from '../../../api/builtin/index.ts'
import { isReservedKey } from '../../../api/names.ts'
import type { KubeObject } from '../../../api/resource.ts'

/** So long after its grace period a pod is forced, and after its deletion a namespace says what it is held by. */
const marginSeconds = 120
/** The message of a condition is for people: more objects than these are only counted. */
const maxNamed = 5

/**
 * Whether a pod should have ended by now. However long its grace period is, it counts with the longest that admission allows:
 * the pod may be older than that rule. A pod that was forced already, and is held by a finalizer, is not forced again.
 */
export function isOverdue({ metadata }: Pod, now: Date): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = metadata
  if (deletionTimestamp === undefined || grace === 0) return false
  const requested = Date.parse(deletionTimestamp) - grace * 1000
  return now.getTime() >= requested + (Math.min(grace, maxGraceSeconds) + marginSeconds) * 1000
}

/** A kind of which objects remain, as the namespace controller names it. */
export type Remaining = { readonly plural: string; readonly group: string }

/**
 * The kinds whose objects remain in a namespace that has been ending for a while, because finalizers hold them. Without those
 * whose finalizers only the platform sets: its own kinds end by themselves, and its RoleBindings end last.
 * Source: `updateConditions` of
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/namespace/deletion/status_condition_utils.go
 */
export function heldKinds(namespace: Namespace | undefined, now: Date): readonly Remaining[] {
  const { deletionTimestamp = '' } = namespace?.metadata ?? {}
  if (!(now.getTime() >= Date.parse(deletionTimestamp) + marginSeconds * 1000)) return []
  const messageOf = (type: string): string | undefined =>
    namespace?.status?.conditions?.find(condition => condition.type === type && condition.status === 'True')?.message
  if (messageOf('NamespaceFinalizersRemaining') === undefined) return []
  const remaining = messageOf('NamespaceContentRemaining') ?? ''
  return [...remaining.matchAll(/([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances/g)]
    .map(([, plural = '', group = '']) => ({ plural, group }))
    .filter(({ plural, group }) => plural !== 'rolebindings' && !isReservedKey(`${group}/`))
}

/** The objects of one kind; undefined when the platform may not list it. */
export type Held = { readonly kind: Remaining; readonly objects: readonly KubeObject[] | undefined }

/** Names what holds the namespace, and the cure; undefined when nothing does. */
export function heldMessage(namespace: string, held: readonly Held[]): string | undefined {
  const parts = held.flatMap(({ kind: { plural, group }, objects }) => {
    const resource = group === '' ? plural : `${plural}.${group}`
    const columns = '-o custom-columns=NAME:.metadata.name,FINALIZERS:.metadata.finalizers'
    return objects === undefined ? [`${resource} (kubectl get ${resource} -n ${namespace} ${columns})`] : named(resource, objects)
  })
  if (parts.length === 0) return undefined
  return `namespace ${namespace} does not end, because finalizers hold ${parts.join(', ')}: let whoever set them remove them, or remove metadata.finalizers with kubectl edit`
}

function named(resource: string, objects: readonly KubeObject[]): readonly string[] {
  const all = objects
    .filter(({ metadata }) => metadata.finalizers !== undefined && metadata.finalizers.length > 0)
    .map(({ metadata: { name, finalizers = [] } }) => `${resource}/${name} (${finalizers.slice(0, maxNamed).join(', ')})`)
  return all.length > maxNamed ? [...all.slice(0, maxNamed), `${all.length - maxNamed} more ${resource}`] : all
}
