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
import { type Held, heldKinds, heldMessage, isOverdue } from './decide-end.ts'

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
  for (const namespace of leaving) held.push(await endNamespace(deps, tenant, namespace))
  return held.filter(message => message !== undefined).join('; ') || undefined
}

async function endNamespace(deps: EndDeps, tenant: Tenant, { name: namespace, object }: Leaving): Promise<string | undefined> {
  const { client, audit, events } = deps
  const left = await client.list<Pod>(pods, { namespace })
  const now = deps.clock.now()
  const overdue = left.filter(pod => isOverdue(pod, now))
  const remaining = heldKinds(object, now)
  for (const pod of overdue) {
    // Before the pod is forced: while the log cannot be written it stays.
    await recordEndOnce(audit, forcedRecord(tenant, pod))
    const { uid } = pod.metadata
    await client.delete(pods, keyOf(pod), { now: true, ...defined({ uid }) })
  }
  const message = forcedMessage(namespace, overdue)
  if (message !== undefined) events.record(tenant, { type: 'Warning', reason: 'PodForced', message })
  const held: Held[] = []
  for (const kind of remaining) {
    const type = listed.find(
      one => one.plural === kind.plural && one.apiVersion.startsWith(kind.group === '' ? 'v1' : `${kind.group}/`),
    )
    held.push({ kind, objects: type === undefined ? undefined : await client.list<KubeObject>(type, { namespace }) })
  }
  return heldMessage(namespace, held)
}

function forcedMessage(namespace: string, [first, ...more]: readonly Pod[]): string | undefined {
  if (first === undefined) return undefined
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return `pod ${first.metadata.name}${others} of namespace ${namespace} had not ended long after the grace period and was forced: see the node ${first.spec?.nodeName ?? '(none)'}`
}

function forcedRecord(tenant: Tenant, { metadata, spec }: Pod): Parameters<typeof recordEndOnce>[1] {
  const { name, namespace = '', uid = '' } = metadata
  return {
    action: 'pod.forced',
    actor: 'sekisho:tenant',
    namespace,
    object: `Pod/${namespace}/${name}`,
    outcome: 'allowed',
    reason: `the namespace of Tenant ${tenant.metadata.name} is being deleted, and the pod had not ended long after its grace period`,
    details: { uid, node: spec?.nodeName ?? '' },
  }
}
