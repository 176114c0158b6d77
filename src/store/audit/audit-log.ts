// The audit log: append only, hash chained, many concurrent appends in one transaction. It owns the order of entries; it must never
// change or remove one, and never say "appended" before the entry is durable.
import type pg from 'pg'
import type { AuditAction, AuditRecord, TenantAuditRecord } from '../../api/audit-event.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { type ChainHead, type ChainVerdict, createChainVerifier } from '../../lib/hash-chain.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import type { PrismaClient } from '../generated/client.ts'
import { type AuditEntry, entryOf, nextEntries } from './audit-chain.ts'
import { storableRecord } from './audit-record.ts'
import { insertAfter, inTurn, readEntries, readHead } from './audit-rows.ts'

export type AuditQuery = {
  /** Only entries with a greater sequence, oldest first. */
  readonly after?: number
  /** Only entries with a smaller sequence; without `after` the newest come first. */
  readonly before?: number
  readonly namespace?: string
  readonly action?: AuditAction
  readonly actor?: string
  /** Only entries of this moment and later. */
  readonly since?: Date
  /** 1 to 1000. */
  readonly limit: number
}

export type AuditLog = {
  /** Durable when it resolves. Rejects (fail closed) when the database does not take it: then the caller must not act. */
  readonly append: (record: AuditRecord) => Promise<AuditEntry>
  /**
   * As `append`, unless `isTold` says that one of the earlier entries tells it already. It is shown the newest entries of the record's
   * action and namespace, newest first, while nobody else appends: of two processes that tell the same at once, one appends.
   */
  readonly appendOnce: (record: TenantAuditRecord, isTold: (earlier: readonly AuditEntry[]) => boolean) => Promise<void>
  readonly list: (query: AuditQuery) => Promise<readonly AuditEntry[]>
  /** Sequence 0 and the genesis hash while the log is empty. */
  readonly head: () => Promise<ChainHead>
  /** Reads and rehashes every entry. A checkpoint taken earlier finds truncation and a rewritten chain too. */
  readonly verify: (checkpoint?: ChainHead) => Promise<ChainVerdict>
}

type AuditLogDeps = { readonly prisma: PrismaClient; readonly pool: pg.Pool; readonly clock: Clock }

const mostInTransaction = 500
const mostWaiting = 10_000
const verifyPage = 1000
/** So far back in its namespace an earlier entry is looked for: it is seconds old, or as old as an outage. */
const earlierEntries = 1000

/** `settled` resolves when no append is under way. */
export function createAuditLog(deps: AuditLogDeps): AuditLog & { readonly settled: () => Promise<void> } {
  const { prisma, pool, clock } = deps
  const commit = createGroupCommit<AuditRecord, AuditEntry>({
    mostItems: mostInTransaction,
    mostWaiting,
    write: createAppender(pool, clock),
    overflow: () => new AppError('unavailable', 'the audit log does not keep up', { retryAfterSeconds: 5 }),
  })
  const underWay = new Set<Promise<void>>()
  return {
    settled: async () => void (await Promise.allSettled([commit.idle(), ...underWay])),
    append: async record => commit.add(storableRecord(record)),
    async appendOnce(record, isTold) {
      const appending = appendUnlessTold(pool, clock, record, isTold)
      underWay.add(appending)
      await appending.finally(() => underWay.delete(appending))
    },
    list: query => listEntries(prisma, query),
    head: () => readHead(pool),
    verify: checkpoint => verifyAll(pool, checkpoint),
  }
}

/** Remembers the head that it wrote last: as long as nobody else appends, a batch costs one round trip. */
function createAppender(pool: pg.Pool, clock: Clock): (records: readonly AuditRecord[]) => Promise<readonly AuditEntry[]> {
  let known: ChainHead | undefined
  return async records => {
    const at = clock.now()
    const next = (head: ChainHead) =>
      nextEntries(
        head,
        records.map(record => ({ record, at })),
      )
    const head = known
    // Whatever happens from here on, the head is not known until the database has said so.
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

async function appendUnlessTold(
  pool: pg.Pool,
  clock: Clock,
  record: TenantAuditRecord,
  isTold: (earlier: readonly AuditEntry[]) => boolean,
): Promise<void> {
  const stored = storableRecord(record)
  await inTurn(pool, async turn => {
    if (isTold(await turn.newest(record.namespace, record.action, earlierEntries))) return
    await turn.insert(nextEntries(turn.head, [{ record: stored, at: clock.now() }]))
  })
}

/** Reads the next page while it hashes this one. */
async function verifyAll(pool: pg.Pool, checkpoint: ChainHead | undefined): Promise<ChainVerdict> {
  const verifier = createChainVerifier(checkpoint)
  let page = await readEntries(pool, 0, verifyPage)
  while (page.length > 0) {
    const last = page.at(-1)?.sequence ?? 0
    const [following] = await Promise.all([readEntries(pool, last, verifyPage), hashed(page)])
    page = following
  }
  return verifier.verdict()

  async function hashed(entries: readonly AuditEntry[]): Promise<void> {
    // The question for the next page must have left before hashing holds the thread.
    await new Promise(resolve => setImmediate(resolve))
    verifier.add(entries)
  }
}

async function listEntries(prisma: PrismaClient, query: AuditQuery): Promise<readonly AuditEntry[]> {
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > 1000)
    throw new AppError('invalid_request', 'limit must be a whole number from 1 to 1000')
  const rows = await prisma.auditRow.findMany({
    where: {
      ...(query.namespace === undefined ? {} : { namespace: query.namespace }),
      ...(query.action === undefined ? {} : { action: query.action }),
      ...(query.actor === undefined ? {} : { actor: query.actor }),
      ...(query.since === undefined ? {} : { at: { gte: query.since } }),
      sequence: {
        ...(query.after === undefined ? {} : { gt: BigInt(query.after) }),
        ...(query.before === undefined ? {} : { lt: BigInt(query.before) }),
      },
    },
    orderBy: { sequence: query.after === undefined ? 'desc' : 'asc' },
    take: query.limit,
  })
  return rows.map(entryOf)
}
