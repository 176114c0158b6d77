// One watch connection as an async iterator, short on purpose: the server is asked to end it after a random 33–40 s and sends a
// bookmark just before, and a connection that has not ended after 45 s is dead and is cut (docs/adr/0012). So silence is found
// without waiting for a heartbeat, and quiet kinds always resume from a fresh version. It never reconnects: the reflector does.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { completeLines } from '../../lib/http/byte-stream.ts'
import type { WatchEvent, WatchOptions } from './client.ts'
import { KubeError } from './errors.ts'
import { errorFromStatus } from './status.ts'
import { type KubeRequest, requestName, type Transport } from './transport.ts'

export type WatchDeps = {
  readonly transport: Pick<Transport, 'open'>
  readonly random: () => number
  /** A watch that is dead is found within this time, and a healthy one renewed before it. Default 45 000. */
  readonly watchSilenceMilliseconds?: number
}

const defaultSilenceMilliseconds = 45_000
// A watch that shall only show that the server is there: when it shall end, and when it is dead.
const briefSeconds = 2
const briefSilenceMilliseconds = 10_000
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
  const { namespace, resourceVersion, labelSelector, fieldSelector, brief = false } = options
  const limit = brief ? Math.min(briefSilenceMilliseconds, watchSilenceMilliseconds) : watchSilenceMilliseconds
  const tooLong = AbortSignal.timeout(limit)
  const timeoutSeconds = String(brief ? briefSeconds : endSeconds(limit, random))
  const request: KubeRequest = {
    verb: 'watch',
    type,
    namespace,
    query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds, labelSelector, fieldSelector },
    signal: AbortSignal.any([options.signal, tooLong]),
  }
  const name = requestName(request)
  try {
    // A consumer that stops early ends the lines, and with them the connection.
    for await (const line of completeLines(longestLine, await transport.open(request))) yield parseEvent<T>(type, line, name)
  } catch (error) {
    options.signal.throwIfAborted()
    if (tooLong.aborted) {
      const message = `${name}: no end after ${limit} ms, asked for after ${timeoutSeconds} s`
      throw new KubeError(message, { status: 0, reason: 'Silent' })
    }
    if (error instanceof KubeError) throw error
    if (error instanceof RangeError) throw new KubeError(`${name}: ${error.message}`, { status: 0, reason: 'TooLarge' })
    throw new KubeError(`${name}: the connection broke`, { status: 0, reason: 'Unreachable', cause: error })
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
