// Audit records of equal events are counted: the first ones are durable before the caller goes on, those that follow within the
// window are one more record with their number. So a workload that repeats a request all day cannot fill the log that everybody
// needs. When the process dies, the numbers that were not written yet are lost, and never the fact itself
// (docs/adr/0023-equal-events-are-counted.md).
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/** An event that may be one of many equal ones. */
export type CountedEvent = {
  readonly record: AuditRecord
  /** Equal events have equal keys. */
  readonly key: string
  readonly windowMilliseconds: number
  /** So many of the window are records of their own, durable before the caller goes on; default 1. */
  readonly individually?: number
  /** Bounds the different events of one tenant: those beyond `most` in a window are counted together, as `others`. */
  readonly within?: { readonly scope: string; readonly most: number; readonly others: AuditRecord }
}

export type CountedAudit = {
  /** Resolves when the event is in the log, or is counted with an equal one that is. Rejects when the log cannot be written. */
  readonly append: (event: CountedEvent) => Promise<void>
  /**
   * Writes the numbers of the windows that have ended; with `all` of every window. Never rejects: what fails is kept for the
   * next call.
   */
  readonly flush: (all?: boolean) => Promise<void>
}

export type CountedAuditDeps = {
  /** Resolves when the record is durable. */
  readonly audit: { readonly append: (record: AuditRecord) => Promise<unknown> }
  readonly clock: Clock
  readonly log: Log
}

type Entry = {
  readonly record: AuditRecord
  readonly scope: string | undefined
  readonly until: number
  /** Settles with the first record. */
  readonly first: Promise<unknown>
  /** How many more are records of their own. */
  individual: number
  further: number
  last: Date
}

/** Beyond it the entry that began first is written early. */
const maxEntries = 50_000

// Memory (counted events): equal refusals of a minute, or deliveries of one token in ten minutes → their number (ADR 0023)
//   life: the window; all are written at an orderly stop
//   bound: 50,000, the oldest written early
//   freshness: the end of the window
//   replicas: each counts: at most twice the records
/** Nothing counted yet. */
export function createCountedAudit({ audit, clock, log }: CountedAuditDeps): CountedAudit {
  const entries = new Map<string, Entry>()
  const openInScope = new Map<string, number>()

  function open(key: string, entry: Entry): void {
    entries.set(key, entry)
    if (entry.scope !== undefined) openInScope.set(entry.scope, (openInScope.get(entry.scope) ?? 0) + 1)
  }

  function drop(key: string, entry: Entry): void {
    if (entries.get(key) !== entry) return
    entries.delete(key)
    if (entry.scope === undefined) return
    const left = (openInScope.get(entry.scope) ?? 1) - 1
    if (left > 0) openInScope.set(entry.scope, left)
    else openInScope.delete(entry.scope)
  }

  async function writeNumber({ record, further, last }: Entry): Promise<void> {
    if (further === 0) return
    await audit.append({ ...record, details: { ...record.details, count: further, until: last.toISOString() } })
  }

  /** The entries that must be written before another one is opened under this key. */
  function closeFor(key: string): readonly Entry[] {
    const closed: Entry[] = []
    const ended = entries.get(key)
    const [oldest] = entries
    if (ended !== undefined) closed.push(ended)
    else if (entries.size >= maxEntries && oldest !== undefined) closed.push(oldest[1])
    if (ended !== undefined) drop(key, ended)
    else if (closed.length > 0 && oldest !== undefined) drop(oldest[0], oldest[1])
    return closed
  }

  async function count({ key, record, windowMilliseconds, individually = 1 }: CountedEvent, scope?: string): Promise<void> {
    const held = entries.get(key)
    if (held !== undefined && elapsed(clock) < held.until) {
      if (held.individual > 0) {
        held.individual -= 1
        await held.first
        await audit.append(record)
        return
      }
      held.further += 1
      held.last = clock.now()
      await held.first
      return
    }
    const closed = closeFor(key)
    const write = async (): Promise<void> => {
      for (const entry of closed) await writeNumber(entry)
      await audit.append(record)
    }
    const entry: Entry = {
      record,
      scope,
      until: elapsed(clock) + windowMilliseconds,
      first: write(),
      individual: individually - 1,
      further: 0,
      last: clock.now(),
    }
    open(key, entry)
    try {
      await entry.first
    } catch (error) {
      drop(key, entry)
      throw error
    }
  }

  return {
    append(event) {
      const { key, windowMilliseconds, within } = event
      const isFull = within !== undefined && (openInScope.get(within.scope) ?? 0) >= within.most && !entries.has(key)
      if (isFull) return count({ key: `${within.scope} others`, record: within.others, windowMilliseconds })
      return count(event, within?.scope)
    },
    async flush(all = false) {
      const now = elapsed(clock)
      for (const [key, entry] of [...entries]) {
        if (!all && now < entry.until) continue
        const { further } = entry
        try {
          await entry.first
          await writeNumber(entry)
          entry.further -= further
          if (entry.further === 0) drop(key, entry)
        } catch (error) {
          log.error({ error: messageOf(error), count: further }, 'failed to record how often an event happened')
        }
      }
    },
  }
}
