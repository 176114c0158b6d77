// A few objects of the Kubernetes API in memory, for faults that concern what a process does with them and not the API server itself:
// create, get, merge patch and apply of named objects, with resourceVersions and 409. It counts writes and knows no kind.
import type { KubeObject, ObjectKey, ResourceType } from '../../../src/api/resource.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { KubeError } from '../../../src/kube/client/errors.ts'

type Json = { readonly [field: string]: unknown }

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field]
    else result[field] = merged(result[field], value)
  }
  return result
}

export type MemoryKube = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'apply'>
  readonly writes: () => number
  readonly put: (object: KubeObject) => void
}

export function createMemoryKube(): MemoryKube {
  const objects = new Map<string, KubeObject>()
  let writes = 0
  const nameOf = (kind: string, key: Partial<ObjectKey>): string => `${kind}/${key.namespace ?? ''}/${key.name ?? ''}`
  const keep = <T extends KubeObject>(name: string, object: Json): T => {
    writes += 1
    const metadata = { ...(object['metadata'] as Json), resourceVersion: String(writes), uid: name }
    const kept = { ...object, metadata } as unknown as T
    objects.set(name, kept)
    return kept
  }
  const find = <T extends KubeObject>(type: ResourceType<T>, key: Partial<ObjectKey>): T | undefined =>
    objects.get(nameOf(type.kind, key)) as T | undefined
  return {
    writes: () => writes,
    put: object => void keep(nameOf(object.kind, object.metadata), object as unknown as Json),
    client: {
      get: async (type, key) => find(type, key),
      async create(type, object) {
        if (find(type, object.metadata) !== undefined) throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' })
        return keep(nameOf(type.kind, object.metadata), object as unknown as Json)
      },
      async mergePatch(type, key, patch) {
        const found = find(type, key)
        if (found === undefined) return undefined
        const wanted = (patch as { readonly metadata?: { readonly resourceVersion?: string } }).metadata?.resourceVersion
        if (wanted !== undefined && wanted !== found.metadata.resourceVersion)
          throw new KubeError('changed', { status: 409, reason: 'Conflict' })
        return keep(nameOf(type.kind, key), merged(found, patch) as Json)
      },
      /** Lists of named entries are joined by name, as our registrations' `webhooks` are. */
      async apply(type, object) {
        const found = (find(type, object.metadata) ?? {}) as Json
        const lists = Object.fromEntries(
          Object.entries(object).flatMap(([field, value]) =>
            Array.isArray(value) ? [[field, byName(found[field], value)]] : [],
          ),
        )
        return keep(nameOf(type.kind, object.metadata), { ...(merged(found, object) as Json), ...lists })
      },
    },
  }
}

function byName(before: unknown, wanted: readonly Json[]): readonly unknown[] {
  const known = Array.isArray(before) ? (before as readonly Json[]) : []
  return wanted.map(one =>
    merged(
      known.find(({ name }) => name === one['name']),
      one,
    ),
  )
}
