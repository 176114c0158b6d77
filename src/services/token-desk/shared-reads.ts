// Reads of the API server by which tokens are decided, shared by requests that come at once: a read that begins after it was
// asked for says what one of its own would say. So many who ask for the tokens of a few grants, or of many tenants under the same
// Halts, cost the API server a read after the other and not one for each. One that hangs is given up: what it would decide is
// refused, and the next request reads anew.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { linkSignals } from '../../kube/client/linked-signal.ts'
import { AppError } from '../../lib/errors.ts'
import { untilAborted } from '../../lib/limits/until-aborted.ts'
import { FollowingFlight } from '../../lib/single-flight.ts'
import type { GatherDeps } from './gather.ts'

/** An API server answers in milliseconds; its client waits for half a minute, and all who share the read would. */
const answerMilliseconds = 5000

// Memory (reads of the token desk in progress): kind and name, or kind and namespace → the read under way and the next one
//   life: until they settle, at most five seconds; given up, they end with the client's time limit of half a minute
//   bound: two of each that requests in progress ask for, and six that were given up
//   freshness: each read begins after everybody who gets its answer asked for it
//   replicas: each reads
/**
 * As the client's own, but for what is asked for at once. Objects are shared: nobody changes them. Rejects with AppError
 * `unavailable` when a read does not end within `milliseconds`; whoever asked while it hung shares that, and reads again later.
 */
export function createSharedReads(client: GatherDeps['client'], milliseconds = answerMilliseconds): GatherDeps['client'] {
  const objects = new FollowingFlight<KubeObject | undefined>()
  const lists = new FollowingFlight<readonly KubeObject[]>()
  const keyOf = ({ apiVersion, kind }: ResourceType, ...place: readonly string[]): string =>
    [apiVersion, kind, ...place].join(' ')
  const inTime = <T>({ kind }: ResourceType, read: Promise<T>): Promise<T> => untilLate(kind, read, milliseconds)
  return {
    // The same kind is behind the same key, so the answer has the type that was asked for.
    get: (type, key) =>
      objects.run(keyOf(type, key.namespace ?? '', key.name), () => inTime(type, client.get(type, key))) as never,
    list: (type, { namespace }) =>
      lists.run(keyOf(type, namespace), () => inTime(type, client.list(type, { namespace }))) as never,
  }
}

/** Who waits for a read that was given up hears nothing of how it ends. */
async function untilLate<T>(kind: string, read: Promise<T>, milliseconds: number): Promise<T> {
  const late = linkSignals([], milliseconds)
  try {
    return await untilAborted(read, late.signal)
  } catch (cause) {
    if (!late.signal.aborted) throw cause
    const message = `the API server did not answer in time when it was asked for ${kind}s: try again`
    throw new AppError('unavailable', message, { cause, retryAfterSeconds: 5 })
  } finally {
    late.unlink()
  }
}
