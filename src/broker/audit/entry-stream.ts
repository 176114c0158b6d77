// The audit log as a stream of lines, oldest first, from an entry on: the whole of it at the speed of the reader, or with
// `follow` also what comes. One page is in memory, and each query looks at a bounded number of entries, however few of them
// pass the filters. A reader goes on after the last entry that it has.
import { type Clock, elapsed } from '../../lib/clock.ts'
import { auditKeys } from '../../store/audit/audit-keys.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'

const pageSize = 1000
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
 * JSON lines: an entry each, and `{"readThrough": n}` where all entries up to n were sent or do not pass; without `follow` the
 * last one is `{"readThrough": n, "end": true}`. A stream without it was cut off. `{"shortenedTo": n}` ends a stream whose reader
 * has entries that the log has lost.
 */
export async function* entryLines(stream: EntryStream): AsyncGenerator<string> {
  const { audit, clock, signal, follow } = stream
  const isOver = endOf(stream)
  let after = Math.max(stream.after, (await audit.start()).sequence)
  const isByKey = auditKeys(stream.filter).length > 0 || stream.filter.hashedToken !== undefined
  let width = window
  while (!(await isOver())) {
    const head = await audit.head()
    if (head.sequence < after) return yield mark({ shortenedTo: head.sequence })
    while (after < head.sequence) {
      if (await isOver()) return
      const page = await onePage(stream, after, Math.min(after + width, head.sequence))
      width = isByKey && !page.isFull ? Math.min(width * growth, maxWindow) : window
      after = page.through
      yield page.text
    }
    if (!follow) return yield mark({ readThrough: after, end: true })
    yield mark({ readThrough: after })
    await clock.sleep(pollMilliseconds, signal).catch(ignoreAbort(signal))
  }
}

type Page = { readonly text: string; readonly through: number; readonly isFull: boolean }

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

/** A piece for each page: a piece for each entry would cost more than reading it. */
async function onePage({ audit, filter }: EntryStream, after: number, through: number): Promise<Page> {
  const { text, count, last = through } = await audit.lines({ ...filter, after, through, limit: pageSize })
  if (count === 0) return { text: mark({ readThrough: through }), through, isFull: false }
  const isFull = count === pageSize
  return { text, through: isFull ? last : through, isFull }
}

const mark = (place: object): string => `${JSON.stringify(place)}\n`

function ignoreAbort(signal: AbortSignal) {
  return (error: unknown): void => {
    if (!signal.aborted) throw error
  }
}
