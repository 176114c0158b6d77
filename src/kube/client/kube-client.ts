// Implements the client port on the transport: bodies, queries, pages, and which refusals mean "absent".
// One instance per process and identity; it keeps nothing but its connections.
import { pods } from '../../api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import type { Applied, ApplyOptions, KubeClient, ListOptions, Snapshot } from './client.ts'
import { isExpired, isGone, isKubeError, KubeError } from './errors.ts'
import { createTransport, type KubeRequest, requestName, type TransportDeps } from './transport.ts'
import { type WatchDeps, watch } from './watch.ts'

export type KubeClientDeps = TransportDeps & Omit<WatchDeps, 'transport'>

const pageSize = 500
// The server's limit holds the log's bytes; the slack is for what it adds when it cuts.
const logSlackBytes = 64 * 1024

type SnapshotOptions = ListOptions & { readonly signal?: AbortSignal }

type ListAnswer<T> = {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

function writing({ fieldManager, force, guard }: ApplyOptions): Pick<KubeRequest, 'query' | 'guard'> {
  return { query: { fieldManager, force: force ? 'true' : undefined }, guard }
}

function applying(type: ResourceType, object: Applied, options: ApplyOptions, subresource?: 'status'): KubeRequest {
  const { apiVersion, kind } = object
  if (apiVersion !== type.apiVersion || kind !== type.kind)
    throw new AppError('internal', `an apply of ${apiVersion} ${kind} was sent to ${type.apiVersion} ${type.kind}`)
  return { verb: 'apply', type, key: keyOf(object), subresource, body: object, ...writing(options) }
}

async function unlessAbsent<T>(answer: Promise<T>, absent: (error: unknown) => boolean): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (absent(error)) return undefined
    throw error
  }
}

const notFound = (error: unknown): boolean => isKubeError(error, 404)

export function createKubeClient(deps: KubeClientDeps): KubeClient & { readonly close: () => Promise<void> } {
  const transport = createTransport(deps)

  // The parse boundary: the server's answer is taken for what was asked for.
  async function json<T>(request: KubeRequest): Promise<T> {
    const bytes = await transport.fetch(request)
    try {
      return JSON.parse(bytes.toString('utf8')) as T
    } catch (cause) {
      throw new KubeError(`${requestName(request)}: the answer is not JSON`, { status: 0, reason: 'Malformed', cause })
    }
  }

  async function pages<T extends KubeObject>(type: ResourceType<T>, options: SnapshotOptions): Promise<Snapshot<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = options
    const items: T[] = []
    let token: string | undefined
    for (;;) {
      const query = { limit: String(pageSize), continue: token, labelSelector, fieldSelector }
      const answer: ListAnswer<T> = await json({ verb: 'list', type, namespace, query, signal })
      // Items of a list carry no apiVersion and kind of their own.
      for (const item of answer.items ?? []) items.push({ ...item, apiVersion: type.apiVersion, kind: type.kind })
      token = answer.metadata.continue
      if (!token) return { items, resourceVersion: answer.metadata.resourceVersion }
    }
  }

  /** Pages that expired between two requests are read again from the start, once. */
  async function snapshot<T extends KubeObject>(type: ResourceType<T>, options: SnapshotOptions = {}): Promise<Snapshot<T>> {
    try {
      return await pages(type, options)
    } catch (error) {
      if (!isExpired(error)) throw error
      return pages(type, options)
    }
  }

  const get: KubeClient['get'] = (type, key) => unlessAbsent(json({ verb: 'get', type, key }), notFound)

  return {
    get,
    snapshot,
    list: async (type, options) => (await snapshot(type, options)).items,
    create(type, object, options) {
      return json({ verb: 'create', type, namespace: object.metadata.namespace, body: object, ...writing(options) })
    },
    apply: async (type, object, options) => json(applying(type, object, options)),
    applyStatus: async (type, object, options) => unlessAbsent(json(applying(type, object, options, 'status')), isGone),
    mergePatch(type, key, patch, options) {
      return unlessAbsent(json({ verb: 'patch', type, key, body: patch, ...writing(options) }), notFound)
    },
    async delete(type, key, { uid, guard } = {}) {
      const body = { propagationPolicy: 'Background', ...(uid === undefined ? {} : { preconditions: { uid } }) }
      try {
        await json({ verb: 'delete', type, key, body, guard })
      } catch (error) {
        if (notFound(error)) return
        if (!isKubeError(error, 409)) throw error
        // Either the uid is another object's, or deletion is under way already (a namespace answers so). Else it is a real conflict.
        const current = await get(type, key)
        const over = current === undefined || current.metadata.deletionTimestamp !== undefined
        if (!over && (uid === undefined || current.metadata.uid === uid)) throw error
      }
    },
    async podLogs(key, { container, tailLines, limitBytes }) {
      const query = { container, tailLines: String(tailLines), limitBytes: String(limitBytes) }
      const request: KubeRequest = { verb: 'get', type: pods, key, subresource: 'log', query }
      return (await transport.fetch(request, limitBytes + logSlackBytes)).toString('utf8')
    },
    watch: (type, options) => watch({ ...deps, transport }, type, options),
    close: () => transport.close(),
  }
}
