// Carries out a Halt: what is live is revoked until nothing is left, whatever fails in between. The only file here that writes.
// That nothing new is issued does not depend on it: the token desk reads Halts itself before each delivery. Order: the status
// says who is halted before a token is revoked (the desk refuses the subject of a halted token by it), and the record that
// somebody lifted a Halt is durable before the object goes. A log that cannot be written does not keep access alive.
import { type Halt, halt } from '../../api/github/halt.ts'
import { keyOf } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { haltedText } from '../../policy/halt.ts'
import type { TokenDesk } from '../../services/token-desk/token-desk.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { dryRunLeft, statusOf } from './decide.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import { type HaltLog, recordBegin, recordEnd } from './records.ts'

export type HaltDeps = GatherDeps & {
  readonly halts: Pick<Cache<Halt>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch' | 'delete'>
  readonly status: StatusWriter<Halt>
  readonly audit: HaltLog
  readonly desk: Pick<TokenDesk, 'revokeBy'>
  readonly clock: Clock
  readonly log: Log
}

/** GitHub is asked again about each token when that token is due (src/services/token-desk/revoke.ts). */
const againMilliseconds = 5000

/** Idempotent. */
export function reconcileHalt(deps: HaltDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, status } = deps
  const kind = { type: halt, finalizer: 'sekisho.dev/halt', client, cache: deps.halts, status }
  return reconcileWithFinalizer(
    {
      ...kind,
      keep: object => keep(deps, object),
      async end(object) {
        if (object.spec.dryRun !== true) await recordEnd(deps.audit, object)
        return undefined
      },
    },
    context,
  )
}

async function keep(deps: HaltDeps, object: Halt): Promise<Outcome> {
  if (object.spec.lifted !== undefined) return lift(deps, object)
  if (object.spec.dryRun === true) return dryRun(deps, object)
  const began = await attempt(() => recordBegin(deps.audit, object))
  const before = await gather(deps, object)
  const written = await write(deps, object, before, false)
  const revoked = await revoke(deps, object, before)
  if (before.left > 0) {
    const after = await gather(deps, written)
    await write(deps, written, after, true)
    if (after.left > 0) return requeueAfter(againMilliseconds)
  }
  if (began.failure !== undefined) throw began.failure
  if (revoked.failure !== undefined) throw revoked.failure
  return done
}

async function lift(deps: HaltDeps, object: Halt): Promise<Outcome> {
  if (object.spec.dryRun !== true) await recordEnd(deps.audit, object)
  await remove(deps, object)
  return done
}

async function dryRun(deps: HaltDeps, object: Halt): Promise<Outcome> {
  const left = dryRunLeft(object, deps.clock.now())
  if (left > 0) {
    await write(deps, object, await gather(deps, object), false)
    return requeueAfter(left)
  }
  await remove(deps, object)
  return done
}

function remove({ client }: HaltDeps, object: Halt): Promise<void> {
  return client.delete(halt, keyOf(object), { uid: uidOf(object) })
}

function write(deps: HaltDeps, object: Halt, facts: Facts, attempted: boolean): Promise<Halt> {
  return deps.status.write(object, statusOf(object, facts, { now: deps.clock.now(), attempted }))
}

/** What GitHub does not revoke now stays in the registry: no failure, because the status says so, and it is asked again. */
async function revoke(deps: HaltDeps, object: Halt, { filter, left }: Facts): Promise<Attempt> {
  if (filter === undefined || left === 0) return { failure: undefined }
  const attempted = await attempt(() => deps.desk.revokeBy(filter, haltedText(object)))
  if (!isAppError(attempted.failure, 'unavailable')) return attempted
  deps.log.info({ halt: object.metadata.name, error: messageOf(attempted.failure) }, 'not everything is revoked yet')
  return { failure: undefined }
}

type Attempt = { readonly failure: unknown }

async function attempt(work: () => Promise<unknown>): Promise<Attempt> {
  try {
    await work()
    return { failure: undefined }
  } catch (failure) {
    return { failure }
  }
}
