// Makes what a Tenant has and takes it away again. The only file here that writes. Deleting waits until both namespaces are gone, so that
// the Installations in them have ended their tokens before the Tenant disappears.

import type { KubeObject } from '../../api/resource.ts'
import { type Tenant, tenant as tenants } from '../../api/tenant.ts'
import { namespaces } from '../../kube/builtin.ts'
import type { KubeClient } from '../../kube/client.ts'
import { findCondition, sameStatus } from '../../kube/conditions.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller.ts'
import { isKubeError } from '../../kube/errors.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { addFinalizer, removeFinalizer } from '../../kube/finalizers.ts'
import type { Cache } from '../../kube/store.ts'
import type { Clock } from '../../lib/clock.ts'
import { contains } from '../application/live-match.ts'
import { decide, type Finding } from './decide.ts'
import { type Desired, desiredHashAnnotation, desiredObjects } from './desired.ts'
import { type Facts, type GatherDeps, gather, type LiveObjects } from './gather.ts'
import { nextStatus, type TenantStatus } from './status.ts'

export type TenantDeps = GatherDeps & {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'applyStatus' | 'mergePatch' | 'delete'>
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  readonly live: LiveObjects
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  readonly certificateAuthority: () => string
  readonly registryPort: number
}

const finalizer = 'sekisho.dev/tenant'
const fieldManager = 'sekisho.dev/tenant'

export async function reconcileTenant(deps: TenantDeps, context: ReconcileContext): Promise<Outcome> {
  const cached = deps.tenants.get(context.key)
  if (cached === undefined) return done
  if (cached.metadata.deletionTimestamp !== undefined) return finalize(deps, cached)
  const tenant = await addFinalizer(deps.client, tenants, cached, finalizer)
  if (tenant === undefined) return done
  const facts = await gather(deps, tenant)
  const finding = decide(facts)
  if (finding.status === 'True') await applyAll(deps, facts)
  await writeStatus(deps, tenant, finding)
  return done
}

/** The namespaces' own deletion wakes this again. */
async function finalize(deps: TenantDeps, tenant: Tenant): Promise<Outcome> {
  const facts = await gather(deps, tenant)
  const mine = [facts.applications, facts.builds].filter(
    namespace => namespace.state === 'ours' || namespace.state === 'terminating',
  )
  for (const namespace of mine.filter(({ state }) => state === 'ours'))
    await deps.client.delete(namespaces, { name: namespace.name })
  if (mine.length === 0) await removeFinalizer(deps.client, tenants, tenant, finalizer)
  return done
}

async function applyAll(deps: TenantDeps, { tenant }: Facts): Promise<void> {
  const desired = desiredObjects({ tenant, certificateAuthority: deps.certificateAuthority(), registryPort: deps.registryPort })
  for (const item of desired) {
    const { name, namespace } = item.object.metadata
    const live = deps.live(item.type, namespace === undefined ? { name } : { namespace, name })
    if (live === undefined || differs(item, live)) await applyOne(deps, item, live)
  }
}

function differs({ object }: Desired, live: KubeObject): boolean {
  const wanted = object.metadata.annotations?.[desiredHashAnnotation]
  return live.metadata.annotations?.[desiredHashAnnotation] !== wanted || !contains(live, object)
}

/**
 * A namespace is created, never adopted: no object has version 1, so an apply that names it conflicts where a namespace of that name
 * exists already and creates where none does.
 */
async function applyOne(deps: TenantDeps, { type, object }: Desired, live: KubeObject | undefined): Promise<void> {
  const createOnly = type.kind === namespaces.kind && live === undefined
  const metadata = createOnly ? { ...object.metadata, resourceVersion: '1' } : object.metadata
  try {
    await deps.client.apply(type, { ...object, metadata }, { fieldManager, force: !createOnly })
  } catch (error) {
    // Somebody made it between our look and our write: the next look tells whose it is.
    if (createOnly && isKubeError(error, 409))
      throw new Error(`namespace ${object.metadata.name} appeared while it was being made`, { cause: error })
    throw error
  }
}

async function writeStatus(deps: TenantDeps, tenant: Tenant, finding: Finding): Promise<void> {
  const status: TenantStatus = nextStatus(tenant, finding, deps.clock.now())
  if (sameStatus(tenant.status, status)) return
  const { name, uid } = tenant.metadata
  const metadata = { name, ...(uid === undefined ? {} : { uid }) }
  await deps.client.applyStatus(
    tenants,
    { apiVersion: tenants.apiVersion, kind: tenants.kind, metadata, status },
    { fieldManager, force: true },
  )
  if (findCondition(tenant.status?.conditions, 'Ready')?.reason === finding.reason) return
  deps.events.record(tenant, {
    type: finding.status === 'True' ? 'Normal' : 'Warning',
    reason: finding.reason,
    message: finding.message,
  })
}
