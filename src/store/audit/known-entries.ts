// What this process knows of the log without the database: the entries that it wrote lately. A database that was restored, or
// failed over to a copy that lagged, has lost entries that were durable once; a new entry would silently take the place of a
// lost one. This finds the loss, and says what was lost. It remembers a bounded number, and nothing of what other processes
// wrote.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import type { AuditEntry } from './audit-chain.ts'

export type KnownEntries = {
  /** Entries that have become durable. */
  readonly remember: (entries: readonly AuditEntry[]) => void
  /** The newest of them; undefined before the first. */
  readonly newest: () => ChainHead | undefined
  /** All that are remembered, oldest first. */
  readonly all: () => readonly AuditEntry[]
  /** They are in the log no more: what was lost is reported once. */
  readonly forget: (lost: readonly AuditEntry[]) => void
}

const maxKnown = 500
/** Listed in one record; all are logged. */
const maxListed = 40

// Memory (known entries): the entries that this process wrote lately, by which a database that lost some is noticed
//   life: the process
//   bound: 500, the oldest forgotten first
//   freshness: a loss that was reported
//   replicas: each knows and reports its own
export function createKnownEntries(): KnownEntries {
  let entries: readonly AuditEntry[] = []
  return {
    remember(more) {
      // Commits that overlap may be seen in another order than they have in the log.
      entries = [...entries, ...more].sort((a, b) => a.sequence - b.sequence).slice(-maxKnown)
    },
    newest() {
      const last = entries.at(-1)
      return last && { sequence: last.sequence, hash: last.hash }
    },
    all: () => entries,
    forget(lost) {
      const gone = new Set(lost.map(({ hash }) => hash))
      entries = entries.filter(({ hash }) => !gone.has(hash))
    },
  }
}

/** The record of a loss. `found` is the newest entry that the log still had. */
export function lossRecord(lost: readonly AuditEntry[], found: ChainHead): AuditRecord {
  const [first] = lost
  const last = lost.at(-1)
  return {
    action: 'audit-log.shortened',
    actor: 'sekisho:audit-log',
    object: 'AuditLog',
    outcome: 'failed',
    reason: `the log ended at entry ${found.sequence}: entries that were durable are gone, as after a failover to a copy that lagged, a restored backup, or deletion`,
    details: {
      foundSequence: found.sequence,
      foundHash: found.hash,
      knownSequence: last?.sequence ?? 0,
      knownHash: last?.hash ?? '',
      lostFrom: first?.sequence ?? 0,
      lostEntries: lost.length,
      lost: lost.slice(-maxListed).map(({ sequence, action, object, details }) => {
        const token = details['token']
        return [sequence, action, object.slice(0, 150), ...(typeof token === 'string' ? [token] : [])].join(' ')
      }),
    },
  }
}
