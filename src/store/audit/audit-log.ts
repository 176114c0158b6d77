// The audit log: append only, hash chained, many concurrent appends in one transaction. It owns the order of entries; it must
// never change or remove one, and never report an entry as appended before it is durable.
import type pg from 'pg'
import type { AuditRecord, TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { leastKeptMilliseconds } from '../../api/audit/retention.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import type { Log } from '../../lib/log.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import { type AuditEntry, nextEntries } from './audit-chain.ts'
import { type NamedId, readNames } from './audit-names.ts'
import { storableRecord } from './audit-record.ts'
import {
  type AuditQuery,
  type EntryLines,
  hasEntry,
  insertAfter,
  inTurn,
  readCuts,
  readEntries,
  readEntryLines,
  readHead,
  readStart,
  type Turn,
} from './audit-rows.ts'
import { createKnownEntries, type KnownEntries, lossRecord } from './known-entries.ts'

/** The port for the audit log. */
export type AuditLog = {
  /**
   * Resolves when the entry is durable. Rejects when the database does not accept it: then the caller must not act (fail
   * closed).
   */
  readonly append: (record: AuditRecord) => Promise<AuditEntry>
  /**
   * As `append`, unless `alreadyRecorded` finds the record among the earlier entries. It gets the newest entries of the
   * record's action and namespace, newest first, while no other caller appends: of two processes that append the same record at
   * once, one does.
   */
  readonly appendOnce: (record: TenantAuditRecord, alreadyRecorded: (earlier: readonly AuditEntry[]) => boolean) => Promise<void>
  /** Throws `invalid_request` for a limit that is not a whole number from 1 to 1000. */
  readonly list: (query: AuditQuery) => Promise<readonly AuditEntry[]>
  /** As `list`, as lines of JSON. */
  readonly lines: (query: AuditQuery) => Promise<EntryLines>
  /** Sequence 0 and the genesis hash while the log is empty. */
  readonly head: () => Promise<ChainHead>
  /** The head before the oldest entry: that of an empty log, unless the log was cut. That the cut was allowed is not checked. */
  readonly start: () => Promise<ChainHead>
  /** The newest entries (at most 100) about cuts, newest first. Their signatures are not checked. */
  readonly cuts: () => Promise<readonly AuditEntry[]>
  /** Ids and names, also former ones, in the newest 500,000 entries, or in as many of this namespace. */
  readonly names: (kind: 'person' | 'repository', namespace: string | undefined) => Promise<readonly NamedId[]>
}

type AuditLogDeps = {
  readonly pool: pg.Pool
  readonly clock: Clock
  readonly log: Log
  /** Called after a loss was recorded: what else was durable may be gone as well. */
  readonly onLoss?: () => void
}

const maxInTransaction = 500
const maxWaiting = 10_000
/** How many entries of a namespace `appendOnce` searches: the earlier entry is seconds old, or as old as an outage. */
const maxEarlierEntries = 1000

// Memory (audit head): the newest entry that this process wrote; entries that wait for their transaction
//   life: until another process appends; until they are durable
//   bound: one; 10,000 wait
//   freshness: the condition on each insert
//   replicas: each; what the other appended makes the condition fail, and the entry is chained anew
/**
 * The log over a pool whose role may INSERT and SELECT. `settled` resolves when no append is in progress. `examine` records a
 * loss of entries that this process wrote, which every append does as well.
 */
export function createAuditLog(
  deps: AuditLogDeps,
): AuditLog & { readonly settled: () => Promise<void>; readonly examine: () => Promise<void> } {
  const { pool, clock } = deps
  const known = createKnownEntries()
  const append = exclusiveAppend(deps, known)
  const commit = createGroupCommit<AuditRecord, AuditEntry>({
    maxItems: maxInTransaction,
    maxWaiting,
    write: createAppender(deps, known, append),
    overflow: () => new AppError('unavailable', 'too many audit entries are waiting to be written', { retryAfterSeconds: 5 }),
  })
  const inProgress = new Set<Promise<void>>()
  const appendUnlessRecorded: AuditLog['appendOnce'] = async (record, alreadyRecorded) => {
    const stored = storableRecord(record)
    await append(async turn => {
      const earlier = await turn.newest(record.namespace, record.action, maxEarlierEntries)
      return alreadyRecorded(earlier) ? [] : [{ record: stored, at: clock.now() }]
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
    list: async query => readEntries(pool, checkedQuery(query)),
    lines: async query => readEntryLines(pool, checkedQuery(query)),
    head: () => readHead(pool),
    start: () => readStart(pool),
    cuts: () => readCuts(pool),
    names: (kind, namespace) => readNames(pool, kind, namespace),
    async examine() {
      const newest = known.newest()
      if (newest !== undefined && !(await hasEntry(pool, newest))) await append(async () => [])
    },
  }
}

function checkedQuery(query: AuditQuery): AuditQuery {
  if (Number.isInteger(query.limit) && query.limit >= 1 && query.limit <= 1000) return query
  throw new AppError('invalid_request', 'limit must be a whole number from 1 to 1000')
}

/** Remembers the head that it wrote last: as long as no other process appends, a batch costs one round trip. */
function createAppender(
  { pool, clock }: AuditLogDeps,
  known: KnownEntries,
  append: ExclusiveAppend,
): (records: readonly AuditRecord[]) => Promise<readonly AuditEntry[]> {
  let last: ChainHead | undefined
  return async records => {
    const at = clock.now()
    const dated = records.map(record => ({ record, at }))
    const head = last
    // Until the database has answered, the head is unknown.
    last = undefined
    const expected = head && nextEntries(head, dated)
    if (head && expected && (await insertAfter(pool, head, expected))) {
      known.remember(expected)
      last = expected.at(-1)
      return expected
    }
    const entries = await append(async () => dated)
    last = entries.at(-1)
    return entries
  }
}

type DatedRecord = { readonly record: AuditRecord; readonly at: Date }
/** Appends what `choose` returns while no other process appends. */
type ExclusiveAppend = (choose: (turn: Turn) => Promise<readonly DatedRecord[]>) => Promise<readonly AuditEntry[]>

/** Where entries of this process are gone, the first entry that is appended says so. */
function exclusiveAppend({ pool, clock, log, onLoss }: AuditLogDeps, known: KnownEntries): ExclusiveAppend {
  return async choose => {
    const { lost, pruned, entries } = await inTurn(pool, known.newest(), async turn => {
      const missing = turn.hasKnown ? [] : await goneFrom(turn, known.all())
      const pruned = await prunedOf(turn, missing, clock.now())
      const gone = missing.filter(entry => !pruned.has(entry))
      const loss = gone.length === 0 ? [] : [{ record: storableRecord(lossRecord(gone, turn.head)), at: clock.now() }]
      const added = nextEntries(turn.head, [...loss, ...(await choose(turn))])
      if (added.length > 0) await turn.insert(added)
      return { lost: gone, pruned, entries: added }
    })
    known.forget([...lost, ...pruned])
    known.remember(entries)
    if (lost.length === 0) return entries
    for (const entry of lost) log.error({ entry }, 'an entry of the audit log is gone')
    log.error(
      { entries: lost.length },
      'the audit log lost entries that were durable: the database was restored, failed over, or altered',
    )
    onLoss?.()
    return entries.slice(1)
  }
}

async function goneFrom(turn: Turn, entries: readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
  const present = await turn.present(entries.map(({ hash }) => hash))
  return entries.filter(({ hash }) => !present.has(hash))
}

/**
 * Those that were cut off as the log itself says, and that are old enough for it. Whether the platform signed the cut is
 * checked by whoever has its keys: the broker every minute, and `sekisho audit verify`.
 */
async function prunedOf(turn: Turn, missing: readonly AuditEntry[], now: Date): Promise<ReadonlySet<AuditEntry>> {
  if (missing.length === 0) return new Set()
  const start = await turn.approvedStart()
  const youngest = new Date(now.getTime() - leastKeptMilliseconds).toISOString()
  return new Set(missing.filter(({ sequence, at }) => start !== undefined && sequence <= start.sequence && at < youngest))
}
