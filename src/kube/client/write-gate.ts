// A client that writes only while its process is the leader; controllers use it. Reads always pass. The guard is passed down to
// the socket with each write, so that a write that waited (a 429, a new connection, a paused process) is checked again before
// it is sent. Reviews pass: they are created but change nothing.
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyText } from '../../api/resource.ts'
import type { KubeClient, WriteGuard } from './client.ts'
import { NotLeaderError } from './errors.ts'

/** `guardNow` is called for each write. A write that its guard does not allow rejects with NotLeaderError and sends nothing. */
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
