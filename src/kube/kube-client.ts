// Implements the client port on the transport: paths, content types, pages, and which refusals mean "absent".
// One instance per process and identity; it keeps nothing but its connections.
import type { KubeObject, ResourceType } from '../api/resource.ts'
import { keyOf } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Applied, ApplyOptions, KubeClient, ListOptions, Snapshot } from './client.ts'
import type { KubeConnection } from './connection.ts'
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
  /** Default 90 000. */
  readonly watchSilenceMilliseconds?: number
}

const pageSize = 500
const applyType = 'application/apply-patch+yaml'
const mergeType = 'application/merge-patch+json'

type SnapshotOptions = ListOptions & { readonly signal?: AbortSignal }

type ListAnswer<T> = {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

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

  async function unlessAbsent<T>(answer: Promise<T>, absent: (error: unknown) => boolean): Promise<T | undefined> {
    try {
      return await answer
    } catch (error) {
      if (absent(error)) return undefined
      throw error
    }
  }

  async function pages<T extends KubeObject>(type: ResourceType<T>, options: SnapshotOptions): Promise<Snapshot<T>> {
    const items: T[] = []
    let token: string | undefined
    for (;;) {
      const answer: ListAnswer<T> = await json({
        verb: 'list',
        type,
        path: collectionPath(type, options.namespace),
        query: {
          limit: String(pageSize),
          continue: token,
          labelSelector: options.labelSelector,
          fieldSelector: options.fieldSelector,
        },
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      })
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

  function applyRequest(type: ResourceType, object: Applied, options: ApplyOptions, subresource?: 'status'): KubeRequest {
    if (object.apiVersion !== type.apiVersion || object.kind !== type.kind)
      throw new AppError(
        'internal',
        `an apply of ${object.apiVersion} ${object.kind} was sent to ${type.apiVersion} ${type.kind}`,
      )
    return {
      verb: 'apply',
      type,
      key: keyOf(object),
      path: objectPath(type, keyOf(object), subresource),
      query: {
        fieldManager: options.fieldManager,
        force: options.force ? 'true' : undefined,
        dryRun: options.dryRun ? 'All' : undefined,
      },
      contentType: applyType,
      body: object,
    }
  }

  const get: KubeClient['get'] = async (type, key) =>
    unlessAbsent(json({ verb: 'get', type, key, path: objectPath(type, key) }), error => isKubeError(error, 404))

  return {
    get,
    snapshot,
    list: async (type, options) => (await snapshot(type, options)).items,
    create: async (type, object, options) =>
      json({
        verb: 'create',
        type,
        path: collectionPath(type, object.metadata.namespace),
        query: { fieldManager: options.fieldManager, dryRun: options.dryRun ? 'All' : undefined },
        contentType: 'application/json',
        body: object,
      }),
    apply: async (type, object, options) => json(applyRequest(type, object, options)),
    applyStatus: async (type, object, options) => unlessAbsent(json(applyRequest(type, object, options, 'status')), isGone),
    mergePatch: async (type, key, patch, options) =>
      unlessAbsent(
        json({
          verb: 'patch',
          type,
          key,
          path: objectPath(type, key),
          query: { fieldManager: options.fieldManager },
          contentType: mergeType,
          body: patch,
        }),
        error => isKubeError(error, 404),
      ),
    async delete(type, key, options = {}) {
      const { uid, propagationPolicy = 'Background' } = options
      try {
        await json({
          verb: 'delete',
          type,
          key,
          path: objectPath(type, key),
          contentType: 'application/json',
          body: { propagationPolicy, ...(uid === undefined ? {} : { preconditions: { uid } }) },
        })
      } catch (error) {
        if (isKubeError(error, 404)) return
        if (!isKubeError(error, 409)) throw error
        // Either the uid is another object's, or deletion is under way already (a namespace answers so). Else it is a real conflict.
        const current = await get(type, key)
        const over = current === undefined || current.metadata.deletionTimestamp !== undefined
        if (!over && (uid === undefined || current.metadata.uid === uid)) throw error
      }
    },
    async podLogs(key, options) {
      const type: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
      const query = {
        container: options.container,
        tailLines: String(options.tailLines),
        limitBytes: String(options.limitBytes),
      }
      // The server's limit holds the log's bytes; the slack is for what it adds when it cuts.
      const bytes = await transport.fetch(
        { verb: 'get', type, key, path: objectPath(type, key, 'log'), query },
        options.limitBytes + 64 * 1024,
      )
      return bytes.toString('utf8')
    },
    watch: (type, options) =>
      watch(
        {
          transport,
          random: deps.random,
          ...(deps.watchSilenceMilliseconds === undefined ? {} : { silenceMilliseconds: deps.watchSilenceMilliseconds }),
        },
        type,
        options,
      ),
    close: () => transport.close(),
  }
}
