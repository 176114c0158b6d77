// Reads a kept log from a byte on, and goes on as it grows while somebody follows it: it asks the database once a second, and
// RBAC again as long as it lasts. It reads a bounded piece at a time, as fast as it is consumed.
import type { Clock } from '../../lib/clock.ts'
import type { BuildRecord } from '../../store/builds/build-record.ts'
import type { KeptLogs } from '../../store/builds/kept-logs.ts'

export type LogEvent =
  /** Bytes from `from` to before `end` of the log. */
  | { readonly kind: 'text'; readonly from: number; readonly end: number; readonly text: string }
  /** So many bytes are not kept, or not any more. */
  | { readonly kind: 'left-out'; readonly bytes: number }
  /** Nothing is new. */
  | { readonly kind: 'waiting' }
  /** The build has ended, and nothing of its log follows. */
  | { readonly kind: 'ended'; readonly ended: NonNullable<BuildRecord['ended']> }

export type ReadLogOptions = {
  /** The first byte. */
  readonly from: number
  /** Goes on until the build has ended, the signal aborts, or `mayRead` says no. */
  readonly follow: boolean
  readonly mayRead: () => Promise<boolean>
  readonly signal: AbortSignal
}

export type ReadLogDeps = { readonly kept: KeptLogs; readonly clock: Pick<Clock, 'sleep'> }

const pollMilliseconds = 1000
/** Polls between two questions whether the person may still read it. */
const pollsPerReview = 10

/** Ends without `ended` when the log may go on later. */
export async function* readLog(
  deps: ReadLogDeps,
  build: Pick<BuildRecord, 'id'>,
  options: ReadLogOptions,
): AsyncGenerator<LogEvent> {
  const { from, follow, mayRead, signal } = options
  let at = from
  for (let polls = 1; !signal.aborted; polls++) {
    // Before the text: what was written before the end is read after it.
    const now = await deps.kept.get(build.id)
    if (now === undefined) return
    at = yield* textFrom(deps.kept, now.id, at)
    if (now.ended !== undefined) {
      yield { kind: 'ended', ended: now.ended }
      return
    }
    if (!follow) return
    yield { kind: 'waiting' }
    if (polls % pollsPerReview === 0 && !(await mayRead())) return
    await deps.clock.sleep(pollMilliseconds, signal).catch(() => undefined)
  }
}

/** All that is kept now from byte `from` on. Returns the byte after it. */
async function* textFrom(kept: Pick<KeptLogs, 'after'>, id: string, from: number): AsyncGenerator<LogEvent, number> {
  let at = from
  for (;;) {
    const pieces = await kept.after(id, at)
    if (pieces.length === 0) return at
    for (const { firstByte, endByte, text } of pieces) {
      if (firstByte > at) yield { kind: 'left-out', bytes: firstByte - at }
      yield { kind: 'text', from: firstByte, end: endByte, text: text.toString('utf8') }
      at = endByte
    }
  }
}

/** The byte at which the last `lines` lines begin; 0, or where what is kept begins, when there are fewer. */
export async function startOfLastLines(kept: Pick<KeptLogs, 'before'>, id: string, lines: number): Promise<number> {
  // The newline at the very end ends the last line and begins none.
  let newlines = lines + 1
  let end = Number.MAX_SAFE_INTEGER
  for (;;) {
    const pieces = await kept.before(id, end)
    if (pieces.length === 0) return end === Number.MAX_SAFE_INTEGER ? 0 : end
    for (const { firstByte, text } of pieces) {
      const found = newlineFromEnd(text, newlines)
      if (found.at !== undefined) return firstByte + found.at + 1
      newlines -= found.count
      end = firstByte
    }
  }
}

/** Where the `number`th newline from the end is, or how many there are. */
function newlineFromEnd(text: Buffer, number: number): { readonly at?: number; readonly count: number } {
  let count = 0
  for (let at = text.lastIndexOf(10); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(10, at - 1)) {
    count += 1
    if (count === number) return { at, count }
  }
  return { count }
}
