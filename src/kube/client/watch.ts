// One watch connection as an async iterator, short on purpose: the server is asked to end it after a random 41–49 s and sends a
// bookmark just before, and a connection that has not ended after 55 s is dead and is cut (docs/adr/0012). So silence is found
// without waiting for a heartbeat, and quiet kinds always resume from a fresh version. It never reconnects: the reflector does.
import { setTimeout as timer } from 'node:timers'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { WatchEvent, WatchOptions } from './client.ts'
import { KubeError } from './errors.ts'
import { collectionPath } from './resource-path.ts'
import { errorFromStatus } from './status.ts'
import { type KubeRequest, requestName, type Transport } from './transport.ts'

export type WatchDeps = {
  readonly transport: Pick<Transport, 'open'>
  readonly random: () => number
  readonly watchSilenceMilliseconds?: number
}

const defaultSilenceMilliseconds = 55_000
// etcd's largest object is 1.5 MiB; an event is one object on one line.
const longestLine = 16 * 1024 * 1024

/** When the server shall end the watch: 75–90 % of the time after which we give it up, so that many do not come back at once. */
function endSeconds(silenceMilliseconds: number, random: () => number): number {
  return Math.max(1, Math.floor((silenceMilliseconds / 1000) * (0.75 + 0.15 * random())))
}

export async function* watch<T extends KubeObject>(
  deps: WatchDeps,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { watchSilenceMilliseconds = defaultSilenceMilliseconds, random, transport } = deps
  const { namespace, resourceVersion, labelSelector, fieldSelector } = options
  const ending = new AbortController()
  const watchdog = timer(() => ending.abort(), watchSilenceMilliseconds)
  const timeoutSeconds = String(endSeconds(watchSilenceMilliseconds, random))
  const request: KubeRequest = {
    verb: 'watch',
    type,
    path: collectionPath(type, namespace),
    query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds, labelSelector, fieldSelector },
    signal: AbortSignal.any([options.signal, ending.signal]),
  }
  const name = requestName(request)
  try {
    for await (const line of lines(await transport.open(request), name)) yield parseEvent<T>(type, line, name)
  } catch (error) {
    options.signal.throwIfAborted()
    if (ending.signal.aborted) {
      const message = `${name}: no end after ${watchSilenceMilliseconds} ms, asked for after ${timeoutSeconds} s`
      throw new KubeError(message, { status: 0, reason: 'Silent' })
    }
    if (error instanceof KubeError) throw error
    throw new KubeError(`${name}: the connection broke`, { status: 0, reason: 'Unreachable', cause: error })
  } finally {
    clearTimeout(watchdog)
    // A consumer that stops early must not leave the connection open.
    ending.abort()
  }
}

/** Complete lines only: what stands behind the last newline when the connection ends was cut off and is not an event. */
async function* lines(body: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
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
      throw new KubeError(`${name}: an event is longer than ${longestLine} bytes`, { status: 0, reason: 'TooLarge' })
  }
}

function parseEvent<T extends KubeObject>(type: ResourceType<T>, line: string, name: string): WatchEvent<T> {
  const malformed = (what: string, cause?: unknown): KubeError =>
    new KubeError(`${name}: ${what}`, { status: 0, reason: 'Malformed', cause })
  let event: { readonly type: string; readonly object: T }
  try {
    // The wire is trusted to carry what the resource type says: schemas are the server's to enforce.
    event = JSON.parse(line) as typeof event
  } catch (cause) {
    throw malformed('an event is not JSON', cause)
  }
  if (event.type === 'ERROR') throw errorFromStatus(name, type, event.object)
  const resourceVersion = event.object?.metadata?.resourceVersion
  if (resourceVersion === undefined) throw malformed('an event has no resourceVersion')
  if (event.type === 'BOOKMARK') return { type: event.type, resourceVersion }
  if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
    return { type: event.type, object: event.object, resourceVersion }
  throw malformed(`unknown event ${String(event.type).slice(0, 40)}`)
}
