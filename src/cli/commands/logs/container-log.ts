// Reads the log of one run of a container as lines, also over connections that break: it goes on after the last line that it has.
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { completeLines } from '../../../lib/http/byte-stream.ts'
import { type LogLine, type LogSource, parseLine } from './log-line.ts'

export type LogReading = {
  readonly client: Pick<KubeClient, 'podLogStream'>
  readonly namespace: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type LogRange = {
  readonly follow: boolean
  readonly previous?: boolean
  readonly tailLines?: number | undefined
  readonly sinceTime?: string | undefined
  /** Whether the same run of the container still goes on: its stream broke, when it ended before. */
  readonly stillRuns?: () => boolean
}

/** A program that never writes a newline would fill the memory. */
const maxLine = 1024 * 1024
const maxBytes = 16 * 1024 * 1024
const pauseMilliseconds = 1000

/**
 * Yields the lines. Ends with the container; without `follow`, with what there is. Throws KubeError, or the reason of the
 * signal.
 */
export async function* containerLog(reading: LogReading, source: LogSource, range: LogRange): AsyncGenerator<LogLine> {
  const { clock, signal } = reading
  const mayGoOn = (): boolean => range.follow && range.stillRuns?.() === true
  let last: string | undefined
  for (;;) {
    try {
      for await (const line of oneStream(reading, source, last === undefined ? range : { ...range, after: last })) {
        last = line.time
        yield line
      }
      if (!mayGoOn()) return
    } catch (error) {
      signal.throwIfAborted()
      if (!mayGoOn() || !mayComeBack(error)) throw error
    }
    last ??= range.sinceTime ?? ''
    await clock.sleep(pauseMilliseconds, signal)
  }
}

/** One connection. With `after` only lines with a later time: `sinceTime` has whole seconds, so that some come again. */
async function* oneStream(
  { client, namespace, signal }: LogReading,
  source: LogSource,
  range: LogRange & { readonly after?: string },
): AsyncGenerator<LogLine> {
  const { follow, previous = false, after, tailLines, sinceTime } = range
  const stream = await client.podLogStream(
    { namespace, name: source.pod },
    {
      container: source.container,
      signal,
      follow,
      previous,
      tailLines: after === undefined ? tailLines : undefined,
      sinceTime: after || sinceTime,
      limitBytes: follow ? undefined : maxBytes,
    },
  )
  let last = after ?? ''
  for await (const text of completeLines(maxLine, ended(stream))) {
    const line = parseLine(source, text, last)
    last = line.time
    if (after === undefined || line.time > after) yield line
  }
}

/** What a container writes last often has no newline. */
async function* ended(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* stream
  yield Buffer.from('\n')
}

/** A stream that breaks ends with an error of undici, which is no KubeError. */
function mayComeBack(error: unknown): boolean {
  return isKubeError(error) ? error.retryable : !(error instanceof RangeError)
}
