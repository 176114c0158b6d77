// The audit log: append only, hash chained, many concurrent appends in one transaction. It owns the order of entries; it must never
// change or remove one, and never report an entry as appended before it is durable.
import type pg from 'pg'
import type { AuditRecord, TenantAuditRecord } from '../../api/audit-event.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ChainHead } from '../../lib/hash-chain.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import { type AuditEntry, nextEntries } from './audit-chain.ts'
import { storableRecord } from './audit-record.ts'
import { type AuditQuery, insertAfter, inTurn, readEntries, readHead } from './audit-rows.ts'

/** The port for the audit log. */
export type AuditLog = {
  /** Resolves when the entry is durable. Rejects when the database does not accept it: then the caller must not act (fail closed). */
  readonly append: (record: AuditRecord) => Promise<AuditEntry>
  /**
   * As `append`, unless `alreadyRecorded` finds the record among the earlier entries. It gets the newest entries of the record's action
   * and namespace, newest first, while no other caller appends: of two processes that append the same record at once, one does.
   */
  readonly appendOnce: (record: TenantAuditRecord, alreadyRecorded: (earlier: readonly AuditEntry[]) => boolean) => Promise<void>
  /** Throws `invalid_request` for a limit that is not a whole number from 1 to 1000. */
  readonly list: (query: AuditQuery) => Promise<readonly AuditEntry[]>
  /** Sequence 0 and the genesis hash while the log is empty. */
  readonly head: () => Promise<ChainHead>
}

type AuditLogDeps = { readonly pool: pg.Pool; readonly clock: Clock }

const mostInTransaction = 500
const mostWaiting = 10_000
/** How many entries of a namespace `appendOnce` searches: the earlier entry is seconds old, or as old as an outage. */
const mostEarlierEntries = 1000

/** The log over a pool whose role may INSERT and SELECT. `settled` resolves when no append is in progress. */
export function createAuditLog(deps: AuditLogDeps): AuditLog & { readonly settled: () => Promise<void> } {
  const { pool, clock } = deps
  const commit = createGroupCommit<AuditRecord, AuditEntry>({
    mostItems: mostInTransaction,
    mostWaiting,
    write: createAppender(deps),
    overflow: () => new AppError('unavailable', 'too many audit entries are waiting to be written', { retryAfterSeconds: 5 }),
  })
  const inProgress = new Set<Promise<void>>()
  const appendUnlessRecorded: AuditLog['appendOnce'] = async (record, alreadyRecorded) => {
    const stored = storableRecord(record)
    await inTurn(pool, async turn => {
      if (alreadyRecorded(await turn.newest(record.namespace, record.action, mostEarlierEntries))) return
      await turn.insert(nextEntries(turn.head, [{ record: stored, at: clock.now() }]))
    })
  }
  return {
    settled: async () => void (await Promise.allSettled([commit.idle(), ...inProgress])),
    append: async record => commit.add(storableRecord(record)),
    async appendOnce(record, alreadyRecorded) {
      const appending = appendUnlessRecorded(record, alreadyRecorded)
      inProgress.add(appending)
      await appending.finally(() => inProgress.delete(appending))
    },
    async list(query) {
      if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > 1000)
        throw new AppError('invalid_request', 'limit must be a whole number from 1 to 1000')
      return readEntries(pool, query)
    },
    head: () => readHead(pool),
  }
}

/** Remembers the head that it wrote last: as long as no other process appends, a batch costs one round trip. */
function createAppender({ pool, clock }: AuditLogDeps): (records: readonly AuditRecord[]) => Promise<readonly AuditEntry[]> {
  let known: ChainHead | undefined
  return async records => {
    const at = clock.now()
    const next = (head: ChainHead) =>
      nextEntries(
        head,
        records.map(record => ({ record, at })),
      )
    const head = known
    // Until the database has answered, the head is unknown.
    known = undefined
    const expected = head && next(head)
    const entries = head && expected && (await insertAfter(pool, head, expected)) ? expected : await insertNext(pool, next)
    known = entries.at(-1)
    return entries
  }
}

function insertNext(pool: pg.Pool, next: (head: ChainHead) => readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
  return inTurn(pool, async turn => {
    const entries = next(turn.head)
    await turn.insert(entries)
    return entries
  })
}
