// The audit log as a stream of lines, oldest first, from an entry on: the whole of it at the speed of the reader, or with
// `follow` also what comes. One page is in memory, and each query looks at a bounded number of entries, however few of them
// pass the filters. A reader goes on after the last entry that it has.
import { type Clock, elapsed } from '../../lib/clock.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'

const pageSize = 1000
/** Entries that one query looks at. */
const window = 20_000
const pollMilliseconds = 1000
/** Between two questions whether the reader still may. */
const askMilliseconds = 10_000

export type EntryStream = {
  readonly audit: Pick<AuditLog, 'list' | 'head' | 'start'>
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
  while (!(await isOver())) {
    const head = await audit.head()
    if (head.sequence < after) return yield mark({ shortenedTo: head.sequence })
    while (after < head.sequence) {
      if (await isOver()) return
      const page = await onePage(stream, after, head.sequence)
      after = page.through
      yield page.text
    }
    if (!follow) return yield mark({ readThrough: after, end: true })
    yield mark({ readThrough: after })
    await clock.sleep(pollMilliseconds, signal).catch(ignoreAbort(signal))
  }
}

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
async function onePage(
  { audit, filter }: EntryStream,
  after: number,
  end: number,
): Promise<{ readonly text: string; readonly through: number }> {
  const through = Math.min(after + window, end)
  const page = await audit.list({ ...filter, after, through, limit: pageSize })
  if (page.length === 0) return { text: mark({ readThrough: through }), through }
  const text = page.map(entry => `${JSON.stringify(entry)}\n`).join('')
  return { text, through: page.length === pageSize ? (page.at(-1)?.sequence ?? through) : through }
}

const mark = (place: object): string => `${JSON.stringify(place)}\n`

function ignoreAbort(signal: AbortSignal) {
  return (error: unknown): void => {
    if (!signal.aborted) throw error
  }
}
