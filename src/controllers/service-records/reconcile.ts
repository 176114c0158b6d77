// Writes to the audit log what happened to services of tenants and their credentials, before their objects are gone: the
// finalizer is there for that alone. data-services, which does these things, has no database of the platform. Decides nothing.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import type { ResourceType } from '../../api/resource.ts'
import { recordFinalizer } from '../../api/services/service-finalizers.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { InStep } from '../kit/in-step.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { happeningOf, isEnded, type Recorded } from './records.ts'

export type RecordDeps<T extends Recorded> = {
  readonly type: ResourceType<T>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
  readonly inStep: InStep
  readonly recordsOf: (object: T) => readonly TenantAuditRecord[]
}

/** Of one object: its credentials are replaced once a month or when somebody asks for it. */
const maxEntries = 1000

/** Rejects when the log cannot be read or written: the object then stays as it is, and the key is retried. */
async function record<T extends Recorded>(deps: RecordDeps<T>, object: T): Promise<void> {
  const { audit, inStep } = deps
  const { uid = '' } = object.metadata
  const unknown = deps.recordsOf(object).filter(one => !inStep.has(happeningOf(one)))
  if (unknown.length === 0) return
  const known = new Set((await audit.list({ uid, limit: maxEntries })).map(happeningOf))
  for (const one of unknown) {
    const happening = happeningOf(one)
    if (!known.has(happening)) await audit.appendOnce(one, earlier => earlier.some(entry => happeningOf(entry) === happening))
    inStep.add(happening)
  }
}

/** Idempotent. */
export function reconcileServiceRecords<T extends Recorded>(
  deps: RecordDeps<T>,
  context: Pick<ReconcileContext, 'key'>,
): Promise<Outcome> {
  const { type, cache, client } = deps
  return reconcileWithFinalizer(
    {
      type,
      cache,
      client,
      finalizer: recordFinalizer,
      // Nothing here writes a status.
      status: { latest: object => object },
      async keep(object) {
        await record(deps, object)
        return done
      },
      async end(object) {
        await record(deps, object)
        return isEnded(object) ? undefined : done
      },
    },
    context,
  )
}
