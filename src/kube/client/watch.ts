// One watch connection as an async iterator. It is short: it requests an end after a random 33–40 s, before which the server
// sends a bookmark, and closes a connection that has not ended after 45 s (docs/adr/0012). So a dead connection is found
// without a heartbeat, and kinds without changes resume from a recent version. It never reconnects: the reflector does.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { completeLines } from '../../lib/http/byte-stream.ts'
import type { WatchEvent, WatchOptions } from './client.ts'
import { errorFromStatus, KubeError } from './errors.ts'
import { type KubeRequest, requestName, type Transport } from './transport.ts'

export type WatchDeps = {
  readonly transport: Pick<Transport, 'open'>
  readonly random: () => number
  /** A connection is given up after this time; a working one ends before it. Default 45 000. */
  readonly watchSilenceMilliseconds?: number
}

const defaultSilenceMilliseconds = 45_000
// A brief watch only shows that the connection works: the end that it requests, and the time after which it is given up.
const briefSeconds = 2
const briefSilenceMilliseconds = 10_000
// etcd's largest object is 1.5 MiB; an event is one object on one line.
const maxLine = 16 * 1024 * 1024

/** The `timeoutSeconds` of a watch: a random 75–90 % of the time limit, so that many watches do not end at once. */
function endSeconds(silenceMilliseconds: number, random: () => number): number {
  return Math.max(1, Math.floor((silenceMilliseconds / 1000) * (0.75 + 0.15 * random())))
}

/** Yields the events of one connection. Throws KubeError, or the reason of `options.signal`. */
export async function* watch<T extends KubeObject>(
  deps: WatchDeps,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { watchSilenceMilliseconds = defaultSilenceMilliseconds, random, transport } = deps
  const { namespace, resourceVersion, labelSelector, fieldSelector, brief = false } = options
  const limit = brief ? Math.min(briefSilenceMilliseconds, watchSilenceMilliseconds) : watchSilenceMilliseconds
  const timeLimit = AbortSignal.timeout(limit)
  const timeoutSeconds = String(brief ? briefSeconds : endSeconds(limit, random))
  const request: KubeRequest = {
    verb: 'watch',
    type,
    namespace,
    query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds, labelSelector, fieldSelector },
    signal: AbortSignal.any([options.signal, timeLimit]),
  }
  const name = requestName(request)
  try {
    // A consumer that returns early closes the stream, and with it the connection.
    for await (const line of completeLines(maxLine, await transport.open(request))) yield parseEvent<T>(type, line, name)
  } catch (error) {
    options.signal.throwIfAborted()
    if (timeLimit.aborted) {
      const message = `${name}: no end after ${limit} ms; requested after ${timeoutSeconds} s`
      throw new KubeError(message, { status: 0, reason: 'Silent' })
    }
    if (error instanceof KubeError) throw error
    if (error instanceof RangeError) throw new KubeError(`${name}: ${error.message}`, { status: 0, reason: 'TooLarge' })
    throw new KubeError(`${name}: the connection failed`, { status: 0, reason: 'Unreachable', cause: error })
  }
}

function parseEvent<T extends KubeObject>(type: ResourceType<T>, line: string, name: string): WatchEvent<T> {
  const malformed = (what: string, cause?: unknown): KubeError =>
    new KubeError(`${name}: ${what}`, { status: 0, reason: 'Malformed', cause })
  let event: { readonly type: string; readonly object: T }
  try {
    // The API server validates objects against their schemas, so events are trusted to have the type.
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
