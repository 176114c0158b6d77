// A client that reads always and writes only while its process leads: the wall behind leader election. Controllers get this one.
// Reviews are questions in the shape of a create, so they pass.
import type { ResourceType } from '../api/resource.ts'
import { keyText } from '../api/resource.ts'
import type { KubeClient } from './client.ts'
import { NotLeaderError } from './errors.ts'

/** Writes while `mayWrite()` is false reject with NotLeaderError and send nothing. */
export function gateWrites(client: KubeClient, mayWrite: () => boolean): KubeClient {
  const refuse = (verb: string, type: ResourceType, name: string): void => {
    if (!mayWrite()) throw new NotLeaderError(`${verb} ${type.kind} ${name}`)
  }
  return {
    ...client,
    async create(type, object, options) {
      if (!type.kind.endsWith('Review')) refuse('create', type, object.metadata.name ?? object.metadata.generateName ?? '')
      return client.create(type, object, options)
    },
    async apply(type, object, options) {
      refuse('apply', type, object.metadata.name)
      return client.apply(type, object, options)
    },
    async applyStatus(type, object, options) {
      refuse('apply', type, object.metadata.name)
      return client.applyStatus(type, object, options)
    },
    async mergePatch(type, key, patch, options) {
      refuse('patch', type, keyText(key))
      return client.mergePatch(type, key, patch, options)
    },
    async delete(type, key, options) {
      refuse('delete', type, keyText(key))
      return client.delete(type, key, options)
    },
  }
}
