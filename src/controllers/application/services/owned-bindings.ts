// Makes the ServiceBindings of an Application, and deletes those that no pod of it uses any more. It decides nothing:
// service-checks.ts does.
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { labels } from '../../../api/names.ts'
import { type ServiceBinding, serviceBinding } from '../../../api/services/service-binding.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { controllerOf, ownerReference } from '../../../kube/object/owner.ts'
import { ensureObject } from '../../kit/ensure-object.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { fieldManager } from '../field-manager.ts'
import { usageProblem } from './service-checks.ts'
import type { ServiceEntry, ServiceFacts } from './service-facts.ts'

type Deps = { readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'> }
type Facts = ServiceFacts & { readonly application: Application }

/** A quota may have room again because of objects that no controller watches. */
const refusedRetryMilliseconds = 60_000

const quotaCure =
  'delete ServiceBindings or entries of spec.services that are not used, or ask a platform admin to raise spec.limits.applications of the Tenant'

/** As the Application makes it. */
export function desiredBinding(application: Application, { use, bindingName }: Pick<ServiceEntry, 'use' | 'bindingName'>) {
  const { apiVersion, kind } = serviceBinding
  const { name, namespace = '' } = application.metadata
  return {
    apiVersion,
    kind,
    metadata: {
      name: bindingName,
      namespace,
      labels: { [labels.application]: name, [labels.managedBy]: 'sekisho' },
      ownerReferences: [ownerReference(application, { controller: true })],
    },
    spec: { service: { kind: 'ServiceInstance' as const, name: use.instance }, access: use.access },
  }
}

async function ensureBinding({ client }: Deps, application: Application, entry: ServiceEntry): Promise<Refusal | undefined> {
  const ensured = await ensureObject<ServiceBinding>(
    {
      client,
      type: serviceBinding,
      fieldManager,
      cached: entry.binding,
      isOurs: live => controllerOf(live)?.uid === application.metadata.uid,
      // What it is for never changes, and when it is to be replaced people say.
      needsApply: () => false,
    },
    desiredBinding(application, entry),
  )
  if (ensured.kind === 'live') return undefined
  if (ensured.kind === 'foreign') {
    const message = `ServiceBinding ${entry.bindingName} exists and does not belong to this Application: delete it`
    return { reason: reasons.nameConflict, message, requeueAfterMilliseconds: refusedRetryMilliseconds }
  }
  const retried = { requeueAfterMilliseconds: refusedRetryMilliseconds } as const
  if (ensured.because === 'content') return { ...retried, reason: reasons.refusedByCluster, message: ensured.message }
  return { ...retried, reason: reasons.quotaExceeded, message: `${ensured.message}: ${quotaCure}` }
}

/**
 * Makes what is missing, where the entries can be used at all. Resolves to the facts with why the cluster refuses one; what was
 * made wakes the Application. @throws KubeError when a retry may succeed
 */
export async function ensureBindings<F extends Facts>(deps: Deps, facts: F): Promise<F> {
  const missing = facts.services.filter(({ binding }) => binding === undefined)
  if (missing.length === 0 || usageProblem(facts) !== undefined) return facts
  for (const entry of missing) {
    const bindingRefusal = await ensureBinding(deps, facts.application, entry)
    if (bindingRefusal !== undefined) return { ...facts, bindingRefusal }
  }
  return facts
}

/** Whether only pods of what is wanted now run. */
export function isSettled({ metadata, status }: Application): boolean {
  const ready = findCondition(status?.conditions, 'Ready')
  return ready?.status === 'True' && status?.observedGeneration === metadata.generation
}

/**
 * Deletes the bindings of entries that are gone, once no pod of an earlier release is left. `known`: the facts of the spec, and
 * those of the release that runs, which differ for a pinned one. @throws KubeError when a retry may succeed
 */
export async function removeBindings(deps: Deps, application: Application, known: readonly ServiceFacts[]): Promise<void> {
  if (!isSettled(application)) return
  const wanted = new Set(known.flatMap(({ services }) => services.map(({ bindingName }) => bindingName)))
  for (const { metadata } of known[0]?.bindings ?? []) {
    const { name, namespace = '', uid, deletionTimestamp } = metadata
    if (wanted.has(name) || uid === undefined || deletionTimestamp !== undefined) continue
    await deps.client.delete(serviceBinding, { namespace, name }, { uid })
  }
}
