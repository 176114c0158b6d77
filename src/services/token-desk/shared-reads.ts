// Reads of the API server by which tokens are decided, shared by requests that come at once: a read that begins after it was
// asked for says what one of its own would say. So many who ask for the tokens of a few grants, or of many tenants under the same
// Halts, cost the API server a read after the other and not one for each.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { FollowingFlight } from '../../lib/single-flight.ts'
import type { GatherDeps } from './gather.ts'

// Memory (reads of the token desk in progress): kind and name, or kind and namespace → the read under way and the next one
//   life: until they settle
//   bound: two of each that requests in progress ask for
//   freshness: each read begins after everybody who gets its answer asked for it
//   replicas: each reads
/** As the client's own, but for what is asked for at once. Objects are shared: nobody changes them. */
export function createSharedReads(client: GatherDeps['client']): GatherDeps['client'] {
  const objects = new FollowingFlight<KubeObject | undefined>()
  const lists = new FollowingFlight<readonly KubeObject[]>()
  const keyOf = ({ apiVersion, kind }: ResourceType, ...place: readonly string[]): string =>
    [apiVersion, kind, ...place].join(' ')
  return {
    // The same kind is behind the same key, so the answer has the type that was asked for.
    get: (type, key) => objects.run(keyOf(type, key.namespace ?? '', key.name), () => client.get(type, key)) as never,
    list: (type, { namespace }) => lists.run(keyOf(type, namespace), () => client.list(type, { namespace })) as never,
  }
}
