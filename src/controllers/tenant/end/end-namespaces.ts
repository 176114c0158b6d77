// Makes the namespaces of a tenant end: forces the pods that have not ended long after their grace period, and finds what else
// holds a namespace. It never removes a finalizer of others: what waits for it would be lost.
import {
  cronJobs,
  deployments,
  horizontalPodAutoscalers,
  ingresses,
  jobs,
  type Namespace,
  type Pod,
  persistentVolumeClaims,
  pods,
  replicaSets,
  services,
  statefulSets,
} from '../../../api/builtin/index.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { EventRecorder } from '../../../kube/object/events.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { recordEndOnce } from '../../../store/audit/record-end.ts'
import { type Held, heldKinds, heldMessage, isOverdue, type Remaining } from './decide-end.ts'

export type EndDeps = {
  readonly client: Pick<KubeClient, 'list' | 'delete'>
  readonly audit: Pick<AuditLog, 'appendOnce'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

type Leaving = { readonly name: string; readonly object: Namespace | undefined }

/** Of the kinds that tenants make, those that the controllers may list in the whole cluster. */
const listed: readonly ResourceType[] = [
  pods,
  services,
  persistentVolumeClaims,
  deployments,
  replicaSets,
  statefulSets,
  jobs,
  cronJobs,
  horizontalPodAutoscalers,
  ingresses,
]

/**
 * Resolves to what holds the namespaces, in words for people; undefined when nothing does, or not for long yet. Idempotent.
 * @throws KubeError when the API server refuses or cannot be reached; what the audit log throws: then no pod is forced
 */
export async function endNamespaces(deps: EndDeps, tenant: Tenant, leaving: readonly Leaving[]): Promise<string | undefined> {
  const held: (string | undefined)[] = []
  for (const { name, object } of leaving) {
    await forcePods(deps, tenant, name)
    held.push(await heldIn(deps, name, heldKinds(object, deps.clock.now())))
  }
  return held.filter(message => message !== undefined).join('; ') || undefined
}

async function forcePods(deps: EndDeps, tenant: Tenant, namespace: string): Promise<void> {
  const left = await deps.client.list<Pod>(pods, { namespace })
  const overdue = left.filter(pod => isOverdue(pod, deps.clock.now()))
  for (const pod of overdue) {
    await recordForced(deps.audit, tenant, pod)
    const { uid } = pod.metadata
    await deps.client.delete(pods, keyOf(pod), { now: true, ...defined({ uid }) })
  }
  const [first] = overdue
  if (first === undefined) return
  const others = overdue.length === 1 ? '' : ` and ${overdue.length - 1} more`
  const message = `pod ${first.metadata.name}${others} of namespace ${namespace} had not ended long after the grace period and was forced: see the node ${first.spec?.nodeName ?? '(none)'}`
  deps.events.record(tenant, { type: 'Warning', reason: 'PodForced', message })
}

/** Before the pod is forced: while the log cannot be written it stays. */
function recordForced(audit: EndDeps['audit'], tenant: Tenant, { metadata, spec }: Pod): Promise<void> {
  const { name, namespace = '', uid = '' } = metadata
  return recordEndOnce(audit, {
    action: 'pod.forced',
    actor: 'sekisho:tenant',
    namespace,
    object: `Pod/${namespace}/${name}`,
    outcome: 'allowed',
    reason: `the namespace of Tenant ${tenant.metadata.name} is being deleted, and the pod had not ended long after its grace period`,
    details: { uid, node: spec?.nodeName ?? '' },
  })
}

async function heldIn({ client }: EndDeps, namespace: string, remaining: readonly Remaining[]): Promise<string | undefined> {
  const held: Held[] = []
  for (const kind of remaining) {
    const type = listed.find(
      one => one.plural === kind.plural && one.apiVersion.startsWith(kind.group === '' ? 'v1' : `${kind.group}/`),
    )
    held.push({ kind, objects: type === undefined ? undefined : await client.list<KubeObject>(type, { namespace }) })
  }
  return heldMessage(namespace, held)
}
