// Small objects of a kind `Thing` for the runtime's unit tests.
import type { KubeObject, ObjectMeta, ResourceType } from '../../api/resource.ts'

export type Thing = KubeObject & { readonly data?: string }

export const things: ResourceType<Thing> = {
  apiVersion: 'test.sekisho.dev/v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
}

/** A Thing in the namespace `ns` with version 1, unless `metadata` says otherwise. */
export function thing(name: string, metadata: Partial<ObjectMeta> = {}, data?: string): Thing {
  return {
    apiVersion: things.apiVersion,
    kind: things.kind,
    metadata: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
    ...(data === undefined ? {} : { data }),
  }
}
