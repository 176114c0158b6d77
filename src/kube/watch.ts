// One watch connection as an async iterator: bookmarks on, a random server-side end, and a watchdog that ends a silent connection
// (the server sends a bookmark about every minute, so 90 s without a byte mean that nobody is there).
// It never reconnects: the reflector decides when and from where.
import { setTimeout as timer } from 'node:timers'
import type { KubeObject, ResourceType } from '../api/resource.ts'
import type { WatchEvent, WatchOptions } from './client.ts'
import { KubeError } from './errors.ts'
import { collectionPath } from './resource-path.ts'
import { errorFromStatus } from './status.ts'
import { type KubeRequest, requestName, type Transport } from './transport.ts'

export type WatchDeps = {
  readonly transport: Transport
  readonly random: () => number
  readonly silenceMilliseconds?: number
}

const defaultSilenceMilliseconds = 90_000
// etcd's largest object is 1.5 MiB; an event is one object on one line.
const longestLine = 16 * 1024 * 1024

/** The server ends the connection somewhere in [290, 580) s, so that many watches do not come back at once. */
function endSeconds(random: () => number): number {
  return 290 + Math.floor(random() * 290)
}

export async function* watch<T extends KubeObject>(
  deps: WatchDeps,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const silence = new AbortController()
  const silenceMilliseconds = deps.silenceMilliseconds ?? defaultSilenceMilliseconds
  const watchdog = timer(() => silence.abort(), silenceMilliseconds)
  const request: KubeRequest = {
    verb: 'watch',
    type,
    path: collectionPath(type, options.namespace),
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: options.resourceVersion,
      timeoutSeconds: String(endSeconds(deps.random)),
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    },
    signal: AbortSignal.any([options.signal, silence.signal]),
  }
  try {
    const body = await deps.transport.open(request)
    for await (const line of lines(body, () => watchdog.refresh(), requestName(request))) yield parseEvent(type, line, request)
  } catch (error) {
    options.signal.throwIfAborted()
    if (silence.signal.aborted)
      throw new KubeError(`${requestName(request)}: silent for ${silenceMilliseconds} ms`, { status: 0, reason: 'Silent' })
    if (error instanceof KubeError) throw error
    throw new KubeError(`${requestName(request)}: the connection broke`, { status: 0, reason: 'Unreachable', cause: error })
  } finally {
    clearTimeout(watchdog)
    // A consumer that stops early must not leave the connection open.
    silence.abort()
  }
}

/** Complete lines only: what stands behind the last newline when the connection ends was cut off and is not an event. */
async function* lines(body: AsyncIterable<Uint8Array>, onBytes: () => void, what: string): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    onBytes()
    const bytes = Buffer.from(chunk)
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      parts.push(bytes.subarray(start, end))
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      start = end + 1
      if (line.trim() !== '') yield line
    }
    parts.push(bytes.subarray(start))
    size += bytes.length - start
    if (size > longestLine)
      throw new KubeError(`${what}: an event is longer than ${longestLine} bytes`, { status: 0, reason: 'TooLarge' })
  }
}

type WireEvent<T> = { readonly type: string; readonly object: T }

function parseEvent<T extends KubeObject>(type: ResourceType<T>, line: string, request: KubeRequest): WatchEvent<T> {
  let event: WireEvent<T>
  try {
    // The wire is trusted to carry what the resource type says: schemas are the server's to enforce.
    event = JSON.parse(line) as WireEvent<T>
  } catch (cause) {
    throw new KubeError(`${requestName(request)}: an event is not JSON`, { status: 0, reason: 'Malformed', cause })
  }
  if (event.type === 'ERROR') throw errorFromStatus(requestName(request), type, event.object)
  const resourceVersion = event.object?.metadata?.resourceVersion
  if (resourceVersion === undefined)
    throw new KubeError(`${requestName(request)}: an event has no resourceVersion`, { status: 0, reason: 'Malformed' })
  if (event.type === 'BOOKMARK') return { type: event.type, resourceVersion }
  if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
    return { type: event.type, object: event.object, resourceVersion }
  throw new KubeError(`${requestName(request)}: unknown event ${String(event.type).slice(0, 40)}`, {
    status: 0,
    reason: 'Malformed',
  })
}
