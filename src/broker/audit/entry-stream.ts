// The audit log as a stream of lines, oldest first, from an entry on: the whole of it at the speed of the reader, or with
// `follow` also what comes. One page is in memory, also while its reader stops, and each query looks at a bounded number of
// entries, however few of them pass the filters. A reader goes on after the last entry that it has.
import { type Clock, elapsed } from '../../lib/clock.ts'
import { auditKeys } from '../../store/audit/audit-keys.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'

const pageSize = 200
/** What an index finds is looked for again for each page. */
const pageSizeByKey = 1000
/** Entries that one query looks at, at first and where no index finds what passes the filters. */
const window = 20_000
/** By so much it grows while an index finds less than a page, and at most how far: what is rare is found in a few queries. */
const [growth, maxWindow] = [8, 4_000_000]
const pollMilliseconds = 1000
/** Between two questions whether the reader still may. */
const askMilliseconds = 10_000

export type EntryStream = {
  readonly audit: Pick<AuditLog, 'lines' | 'head' | 'start'>
  readonly clock: Clock
  readonly after: number
  readonly filter: Omit<AuditQuery, 'after' | 'before' | 'through' | 'limit'>
  readonly follow: boolean
  /** Whether the reader still may read this: asked every ten seconds, and the stream ends when not. */
  readonly mayGoOn: () => Promise<boolean>
  /** Ends the stream between two pages. */
  readonly signal: AbortSignal
}

/**
 * JSON lines, some in a piece: an entry each, and `{"readThrough": n}` where all entries up to n were sent or do not pass;
 * without `follow` the last one is `{"readThrough": n, "end": true}`. A stream without it was cut off. `{"shortenedTo": n}` ends
 * a stream whose reader has entries that the log has lost.
 */
export async function* entryLines(stream: EntryStream): AsyncGenerator<string> {
  const { audit, clock, signal, follow } = stream
  const isOver = endOf(stream)
  let after = Math.max(stream.after, (await audit.start()).sequence)
  const isByKey = findsByKey(stream)
  let width = window
  while (!(await isOver())) {
    const head = await audit.head()
    if (head.sequence < after) return yield mark({ shortenedTo: head.sequence })
    while (after < head.sequence) {
      if (await isOver()) return
      const page = await onePage(stream, after, Math.min(after + width, head.sequence))
      width = isByKey && !page.isFull ? Math.min(width * growth, maxWindow) : window
      after = page.through
      yield* takenFrom(page.pieces)
    }
    if (!follow) return yield mark({ readThrough: after, end: true })
    yield mark({ readThrough: after })
    await clock.sleep(pollMilliseconds, signal).catch(ignoreAbort(signal))
  }
}

/** Each is let go as it is sent: what is still held when the young generation was collected twice waits for a full collection. */
function* takenFrom(pieces: string[]): Generator<string> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece
}

const findsByKey = ({ filter }: EntryStream): boolean => auditKeys(filter).length > 0 || filter.hashedToken !== undefined

type Page = { readonly pieces: string[]; readonly through: number; readonly isFull: boolean }

/** Whether the stream has to end: its connection did, or the right of its reader. */
function endOf({ clock, signal, mayGoOn }: EntryStream): () => Promise<boolean> {
  let askAt = elapsed(clock) + askMilliseconds
  return async () => {
    if (signal.aborted) return true
    if (elapsed(clock) < askAt) return false
    askAt = elapsed(clock) + askMilliseconds
    return !(await mayGoOn()) || signal.aborted
  }
}

async function onePage(stream: EntryStream, after: number, through: number): Promise<Page> {
  const limit = findsByKey(stream) ? pageSizeByKey : pageSize
  const { pieces, count, last = through } = await stream.audit.lines({ ...stream.filter, after, through, limit })
  if (count === 0) return { pieces: [mark({ readThrough: through })], through, isFull: false }
  const isFull = count === limit
  return { pieces, through: isFull ? last : through, isFull }
}

const mark = (place: object): string => `${JSON.stringify(place)}\n`

function ignoreAbort(signal: AbortSignal) {
  return (error: unknown): void => {
    if (!signal.aborted) throw error
  }
}
