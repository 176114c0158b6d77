// A client that reads always and writes only while its process leads: the wall behind leader election. Controllers get this one.
// The guard travels with each write down to the socket, so that one which waited (a 429, a new connection, a stopped process) asks
// again. Reviews are questions in the shape of a create, so they pass.
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyText } from '../../api/resource.ts'
import type { KubeClient, WriteGuard } from './client.ts'
import { NotLeaderError } from './errors.ts'

/** Writes that the guard of the moment does not let pass reject with NotLeaderError, and nothing is sent. */
export function gateWrites(client: KubeClient, guardNow: () => WriteGuard): KubeClient {
  function pass<T extends object>(what: string, options: T): T & { guard: WriteGuard } {
    const guard = guardNow()
    if (!guard.mayWrite()) throw new NotLeaderError(what)
    return { ...options, guard }
  }
  const named = ({ kind }: ResourceType, object: ObjectKey): string => `${kind} ${keyText(object)}`
  return {
    ...client,
    create: async (type, object, options) =>
      client.create(type, object, type.kind.endsWith('Review') ? options : pass(`create ${type.kind}`, options)),
    apply: async (type, object, options) => client.apply(type, object, pass(`apply ${named(type, object.metadata)}`, options)),
    applyStatus: async (type, object, options) =>
      client.applyStatus(type, object, pass(`apply status of ${named(type, object.metadata)}`, options)),
    mergePatch: async (type, key, patch, options) =>
      client.mergePatch(type, key, patch, pass(`patch ${named(type, key)}`, options)),
    delete: async (type, key, options = {}) => client.delete(type, key, pass(`delete ${named(type, key)}`, options)),
  }
}
