// Implements the client port on the transport: bodies, queries, pages, and which refusals mean "absent".
// Use one instance per process and identity. It keeps no state except its connections.
import { pods } from '../../api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import type { Applied, ApplyOptions, KubeClient, Snapshot, SnapshotOptions } from './client.ts'
import { isExpired, isGone, isKubeError, KubeError } from './errors.ts'
import { createTransport, type KubeRequest, requestName, type TransportDeps } from './transport.ts'
import { type WatchDeps, watch } from './watch.ts'

export type KubeClientDeps = TransportDeps & Omit<WatchDeps, 'transport'>

/**
 * The next one is used when a page is larger than an answer may be: an object may have the 1.5 MB that etcd takes, and more as
 * JSON.
 */
const pageSizes = [500, 40, 5]
// The server limits the bytes of the log itself; the slack is for what it adds when it truncates.
const logSlackBytes = 64 * 1024

type ListAnswer<T> = {
  readonly items: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

/**
 * The other values make the API server look, for an apply by parsing the body once more, for a key that is there twice, which
 * JSON.stringify never writes, and for a field that the kind does not have: an apply is refused for it in any case, and for a
 * new object the default value only warns. https://github.com/kubernetes/apiserver/blob/master/pkg/endpoints/handlers/patch.go
 * (applyPatchToCurrentObject), create.go
 */
const unchecked = { fieldValidation: 'Ignore' } as const

function writing({ fieldManager, force, guard, dryRun }: ApplyOptions): Pick<KubeRequest, 'query' | 'guard'> {
  return { query: { fieldManager, force: force ? 'true' : undefined, dryRun: dryRun ? 'All' : undefined }, guard }
}

function applying(type: ResourceType, object: Applied, options: ApplyOptions, subresource?: 'status'): KubeRequest {
  const { apiVersion, kind } = object
  if (apiVersion !== type.apiVersion || kind !== type.kind)
    throw new AppError('internal', `apply of ${apiVersion} ${kind} does not fit the type ${type.apiVersion} ${type.kind}`)
  const { query, guard } = writing(options)
  return { verb: 'apply', type, key: keyOf(object), subresource, body: object, query: { ...query, ...unchecked }, guard }
}

function unlessAbsent<T>(response: Promise<T>, absent: (error: unknown) => boolean): Promise<T | undefined> {
  return response.catch((error: unknown) => {
    if (!absent(error)) throw error
    return undefined
  })
}

/** Whether the object exists, is not being deleted, and has the uid when one is given. */
function stillExists(object: KubeObject | undefined, uid: string | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false
  return uid === undefined || object.metadata.uid === uid
}

const notFound = (error: unknown): boolean => isKubeError(error, 404)

/** Connects on the first request. `close` ends all connections, and requests in progress fail. */
export function createKubeClient(deps: KubeClientDeps): KubeClient & { readonly close: () => Promise<void> } {
  const transport = createTransport(deps)

  // The API server validates objects against their schemas, so the response is trusted to have the requested type.
  async function json<T>(request: KubeRequest): Promise<T> {
    const bytes = await transport.fetch(request)
    try {
      return JSON.parse(bytes.toString('utf8')) as T
    } catch (cause) {
      throw new KubeError(`${requestName(request)}: the response is not JSON`, { status: 0, reason: 'Malformed', cause })
    }
  }

  async function pages<T extends KubeObject>(
    type: ResourceType<T>,
    options: SnapshotOptions<T>,
    limit: number,
  ): Promise<Snapshot<T>> {
    const { namespace, labelSelector, fieldSelector, signal, keep = item => item, most = Number.POSITIVE_INFINITY } = options
    const items: T[] = []
    let token: string | undefined
    for (;;) {
      const query = { limit: String(Math.min(limit, most - items.length)), continue: token, labelSelector, fieldSelector }
      const answer: ListAnswer<T> = await json({ verb: 'list', type, namespace, query, signal })
      // The items of a list lack apiVersion and kind.
      for (const item of answer.items ?? []) items.push(keep({ ...item, apiVersion: type.apiVersion, kind: type.kind }))
      token = answer.metadata.continue
      if (!token || items.length >= most) return { items, resourceVersion: answer.metadata.resourceVersion }
    }
  }

  /** Starts again once when the list expired between two pages, and with smaller pages when one is too large. */
  async function snapshot<T extends KubeObject>(
    type: ResourceType<T>,
    options: SnapshotOptions<T> = {},
    [size = 1, ...smaller] = pageSizes,
  ): Promise<Snapshot<T>> {
    try {
      return await pages(type, options, size)
    } catch (error) {
      if (isKubeError(error) && error.reason === 'TooLarge' && smaller.length > 0) return snapshot(type, options, smaller)
      if (!isExpired(error)) throw error
      return pages(type, options, size)
    }
  }

  const get: KubeClient['get'] = (type, key) => unlessAbsent(json({ verb: 'get', type, key }), notFound)

  return {
    get,
    snapshot: (type, options) => snapshot(type, options),
    list: async (type, options) => (await snapshot(type, options)).items,
    create(type, object, options) {
      const { query, guard } = writing(options)
      const { namespace } = object.metadata
      return json({ verb: 'create', type, namespace, body: object, query: { ...query, ...unchecked }, guard })
    },
    apply: async (type, object, options) => json(applying(type, object, options)),
    applyStatus: async (type, object, options) => unlessAbsent(json(applying(type, object, options, 'status')), isGone),
    mergePatch(type, key, patch, options) {
      return unlessAbsent(json({ verb: 'patch', type, key, body: patch, ...writing(options) }), notFound)
    },
    async delete(type, key, { uid, now, guard, dryRun } = {}) {
      const body = { propagationPolicy: 'Background', gracePeriodSeconds: now && 0, preconditions: uid && { uid } }
      try {
        await json({ verb: 'delete', type, key, guard, body: { ...body, dryRun: dryRun ? ['All'] : undefined } })
      } catch (error) {
        if (notFound(error)) return
        // A 409 is success when the uid belongs to another object, or when the object is already being deleted (as for a
        // namespace).
        if (!isKubeError(error, 409) || stillExists(await get(type, key), uid)) throw error
      }
    },
    async podLogs(key, { container, tailLines, limitBytes }) {
      const query = { container, tailLines: String(tailLines), limitBytes: String(limitBytes) }
      const request: KubeRequest = { verb: 'get', type: pods, key, subresource: 'log', query }
      return (await transport.fetch(request, limitBytes + logSlackBytes)).toString('utf8')
    },
    podLogStream(key, { container, sinceTime, follow, previous, tailLines, limitBytes, signal }) {
      const text = (value: number | boolean | undefined): string | undefined => (value ? String(value) : undefined)
      const query = { container, timestamps: 'true', sinceTime, follow: text(follow), previous: text(previous) }
      const bounds = { tailLines: tailLines?.toString(), limitBytes: text(limitBytes) }
      return transport.open({ verb: 'get', type: pods, key, subresource: 'log', query: { ...query, ...bounds }, signal })
    },
    watch: (type, options) => watch({ ...deps, transport }, type, options),
    close: () => transport.close(),
  }
}
