// Reads the audit log in its order, from an entry on, over as many connections as it takes: each goes on after the last entry
// of the one before, so that no entry is lost or comes twice. What came together is in memory, and nothing before it.
import { AppError, isAppError } from '../../../lib/errors.ts'
import { asObject, integerAt } from '../../../lib/json/json-value.ts'
import type { CommandContext } from '../context.ts'
import { type Entry, isEntry } from './entry.ts'
import { keepMemorySteady } from './steady-memory.ts'

const reconnectMilliseconds = 1000
/** A platform that is being replaced is back before. */
const maxFailures = 60

export type Reading = {
  /** Filters as the platform takes them. */
  readonly query?: URLSearchParams
  /** The sequence after which to begin. */
  readonly after: number
  readonly follow?: boolean
}

type Place = { after: number; ended: boolean }

/**
 * Entries that came together are one batch. Ends with the last entry that there was, or never with `follow`. Rejects with
 * `log_truncated` when the log has lost entries that were read before, and with what the platform said when it is away for more
 * than a minute.
 */
export async function* streamEntries(context: CommandContext, reading: Reading): AsyncGenerator<readonly Entry[]> {
  keepMemorySteady()
  const place: Place = { after: reading.after, ended: false }
  for (let failures = 0; !place.ended; ) {
    const before = place.after
    const error = yield* oneConnection(context, reading, place)
    if (place.ended) return
    failures = place.after > before ? 0 : failures + 1
    if (error !== undefined && !isAppError(error, 'unavailable') && !isAppError(error, 'too_many_requests')) throw error
    if (failures > maxFailures)
      throw error ?? new AppError('unavailable', 'the connection to the platform breaks again and again')
    if (failures === 1 && error !== undefined) context.say('the connection broke: trying to go on')
    await context.clock.sleep(reconnectMilliseconds)
  }
}

/** All entries that pass the filters, in order and in memory: for questions whose answers are few. */
export async function readEntries(context: CommandContext, query: URLSearchParams): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const batch of streamEntries(context, { query, after: 0 })) entries.push(...batch)
  return entries
}

/** Yields what one connection brings, and returns why it ended early. Each has a token of its own: one may expire meanwhile. */
async function* oneConnection(
  context: CommandContext,
  reading: Reading,
  place: Place,
): AsyncGenerator<readonly Entry[], unknown> {
  const query = new URLSearchParams(reading.query)
  query.set('after', String(place.after))
  if (reading.follow === true) query.set('follow', 'true')
  try {
    for await (const values of (await context.api()).follow('/api/v1/audit/stream', query)) {
      const { entries, error } = takeValues(values, place)
      if (entries.length > 0) yield entries
      if (error !== undefined) return error
      if (place.ended) return
    }
    return
  } catch (error) {
    return error
  }
}

/** The entries up to the end of the stream, or to the first value that has no place in it. Moves `place` behind them. */
function takeValues(values: readonly unknown[], place: Place): { readonly entries: readonly Entry[]; readonly error?: unknown } {
  const entries: Entry[] = []
  try {
    for (const value of values) {
      if (isEntry(value)) {
        requireLater(value, place)
        place.after = value.sequence
        entries.push(value)
      } else movePlace(value, place)
      if (place.ended) break
    }
    return { entries }
  } catch (error) {
    return { entries, error }
  }
}

function requireLater({ sequence }: Entry, { after }: Place): void {
  if (sequence > after) return
  throw new AppError('integrity_violation', `entry ${after + 1}: the platform sent earlier entries again`)
}

function movePlace(value: unknown, place: Place): void {
  const mark = asObject(value)
  const shortened = integerAt(mark, 'shortenedTo')
  if (shortened !== undefined)
    throw new AppError(
      'log_truncated',
      `the log ends at entry ${shortened}, but had entry ${place.after}: run sekisho audit verify`,
    )
  const through = integerAt(mark, 'readThrough')
  if (through === undefined) throw new AppError('integrity_violation', 'the platform sent data that is not an audit entry')
  place.after = Math.max(place.after, through)
  place.ended = mark?.['end'] === true
}
