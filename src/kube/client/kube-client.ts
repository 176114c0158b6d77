// Implements the client port on the transport: paths, content types, pages, and which refusals mean "absent".
// One instance per process and identity; it keeps nothing but its connections.
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { KubeConnection } from '../connection/connection.ts'
import type { Applied, ApplyOptions, KubeClient, ListOptions, Snapshot, WriteOptions } from './client.ts'
import { isExpired, isGone, isKubeError, KubeError } from './errors.ts'
import { collectionPath, objectPath } from './resource-path.ts'
import { createTransport, type KubeRequest, type RequestObserver, requestName } from './transport.ts'
import { watch } from './watch.ts'

export type KubeClientDeps = {
  readonly connection: KubeConnection
  /** Shown to the API server's audit log as `sekisho/<component>`. */
  readonly component: string
  readonly clock: Clock
  readonly random: () => number
  readonly observe?: RequestObserver
  /** Default 30 000. */
  readonly requestMilliseconds?: number
  /** A watch that is dead is found within this time, and a healthy one renewed before it. Default 55 000. */
  readonly watchSilenceMilliseconds?: number
}

const pageSize = 500
// The server's limit holds the log's bytes; the slack is for what it adds when it cuts.
const logSlackBytes = 64 * 1024

type SnapshotOptions = ListOptions & { readonly signal?: AbortSignal }

type ListAnswer<T> = {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

function writeQuery(options: ApplyOptions): KubeRequest['query'] & object {
  return { fieldManager: options.fieldManager, force: options.force ? 'true' : undefined }
}

function applyRequest(type: ResourceType, object: Applied, options: ApplyOptions, subresource?: 'status'): KubeRequest {
  const { apiVersion, kind } = object
  if (apiVersion !== type.apiVersion || kind !== type.kind)
    throw new AppError('internal', `an apply of ${apiVersion} ${kind} was sent to ${type.apiVersion} ${type.kind}`)
  const key = keyOf(object)
  const path = objectPath(type, key, subresource)
  const contentType = 'application/apply-patch+yaml'
  return { verb: 'apply', type, key, path, query: writeQuery(options), contentType, body: object, guard: options.guard }
}

function patchRequest(type: ResourceType, key: ObjectKey, patch: object, options: WriteOptions): KubeRequest {
  const contentType = 'application/merge-patch+json'
  const path = objectPath(type, key)
  return { verb: 'patch', type, key, path, query: writeQuery(options), contentType, body: patch, guard: options.guard }
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
  const transport = createTransport({ ...deps, userAgent: `sekisho/${deps.component}` })

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
      const answer: ListAnswer<T> = await json({ verb: 'list', type, path: collectionPath(type, namespace), query, signal })
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

  const get: KubeClient['get'] = async (type, key) =>
    unlessAbsent(json({ verb: 'get', type, key, path: objectPath(type, key) }), notFound)

  return {
    get,
    snapshot,
    list: async (type, options) => (await snapshot(type, options)).items,
    async create(type, object, options) {
      const path = collectionPath(type, object.metadata.namespace)
      const contentType = 'application/json'
      return json({ verb: 'create', type, path, query: writeQuery(options), contentType, body: object, guard: options.guard })
    },
    apply: async (type, object, options) => json(applyRequest(type, object, options)),
    applyStatus: async (type, object, options) => unlessAbsent(json(applyRequest(type, object, options, 'status')), isGone),
    mergePatch: async (type, key, patch, options) => unlessAbsent(json(patchRequest(type, key, patch, options)), notFound),
    async delete(type, key, options = {}) {
      const { uid, propagationPolicy = 'Background', guard } = options
      const body = { propagationPolicy, ...(uid === undefined ? {} : { preconditions: { uid } }) }
      try {
        await json({ verb: 'delete', type, key, path: objectPath(type, key), contentType: 'application/json', body, guard })
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
      const type: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
      const query = { container, tailLines: String(tailLines), limitBytes: String(limitBytes) }
      const request: KubeRequest = { verb: 'get', type, key, path: objectPath(type, key, 'log'), query }
      return (await transport.fetch(request, limitBytes + logSlackBytes)).toString('utf8')
    },
    watch: (type, options) => watch({ ...deps, transport }, type, options),
    close: () => transport.close(),
  }
}
