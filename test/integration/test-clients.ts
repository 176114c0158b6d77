// Kubernetes clients as tests of controllers want them: one that sees only its own part of the shared API server, so that test files do not
// reconcile each other's objects, and one that notes what was written.
import type { ResourceType } from '../../src/api/resource.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'

/** What a list or a watch can ask for. */
export type Where = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string }

/** Lists and watches ask for what `within` makes of their options. */
export function narrowed(client: KubeClient, within: <O extends Where>(type: ResourceType, options: O) => O): KubeClient {
  return {
    ...client,
    list: (type, options = {}) => client.list(type, within(type, options)),
    snapshot: (type, options = {}) => client.snapshot(type, within(type, options)),
    watch: (type, options) => client.watch(type, within(type, options)),
  }
}

/** Of a cluster-wide kind only the object of this name: other test files have theirs. */
export function onlyNamed(client: KubeClient, only: ResourceType, name: string): KubeClient {
  const within = <O extends Where>(type: ResourceType, options: O): O =>
    type.kind === only.kind ? { ...options, fieldSelector: `metadata.name=${name}` } : options
  return narrowed(client, within)
}

/** Which writes reached the API server: how a test sees that a second reconcile writes nothing. */
export type Writes = string[]

export function recording(client: KubeClient, writes: Writes): KubeClient {
  const note = (verb: string, type: ResourceType, name: string | undefined): void => {
    if (type.kind !== 'Event') writes.push(`${verb} ${type.kind} ${name ?? ''}`)
  }
  return {
    ...client,
    create(type, object, options) {
      note('create', type, object.metadata.name)
      return client.create(type, object, options)
    },
    apply(type, object, options) {
      note('apply', type, object.metadata.name)
      return client.apply(type, object, options)
    },
    applyStatus(type, object, options) {
      note('status', type, object.metadata.name)
      return client.applyStatus(type, object, options)
    },
    delete(type, key, options) {
      note('delete', type, key.name)
      return client.delete(type, key, options)
    },
  }
}
