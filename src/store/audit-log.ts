// The audit log: append only, hash chained, many concurrent appends in one transaction. It owns the order of entries; it must never
// change or remove one, and never say "appended" before the entry is durable.
// Several processes on one PostgreSQL take turns by a transaction-level advisory lock; the primary key on the sequence stands behind it.
// Source: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
import type { AuditAction, AuditRecord } from '../api/audit-event.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { type ChainHead, type ChainVerdict, createChainVerifier, emptyHead } from '../lib/hash-chain.ts'
import { type AuditEntry, columnsOf, entryOf, nextEntries } from './audit-chain.ts'
import { storableRecord } from './audit-record.ts'
import type { Prisma, PrismaClient } from './generated/client.ts'
import { createGroupCommit } from './group-commit.ts'

export type AuditQuery = {
  /** Only entries with a greater sequence, oldest first. */
  readonly after?: number
  /** Only entries with a smaller sequence; without `after` the newest come first. */
  readonly before?: number
  readonly namespace?: string
  readonly action?: AuditAction
  readonly actor?: string
  /** 1 to 1000. */
  readonly limit: number
}

export type AuditLog = {
  /** Durable when it resolves. Rejects (fail closed) when the database does not take it: then the caller must not act. */
  readonly append: (record: AuditRecord) => Promise<AuditEntry>
  readonly list: (query: AuditQuery) => Promise<readonly AuditEntry[]>
  /** Sequence 0 and the genesis hash while the log is empty. */
  readonly head: () => Promise<ChainHead>
  /** Reads and rehashes every entry. A checkpoint taken earlier finds truncation and a rewritten chain too. */
  readonly verify: (checkpoint?: ChainHead) => Promise<ChainVerdict>
}

type AuditLogDeps = { readonly prisma: PrismaClient; readonly clock: Clock }

/** Any number that no other lock of this database uses. */
const appendLock = 7_312_001
const mostInTransaction = 200
const mostWaiting = 10_000
const verifyPage = 1000

/** `settled` resolves when no append is under way. */
export function createAuditLog(deps: AuditLogDeps): AuditLog & { readonly settled: () => Promise<void> } {
  const { prisma, clock } = deps
  const commit = createGroupCommit<AuditRecord, AuditEntry>({
    mostItems: mostInTransaction,
    mostWaiting,
    write: records => appendAll(prisma, clock, records),
    overflow: () => new AppError('unavailable', 'the audit log does not keep up', { retryAfterSeconds: 5 }),
  })
  const head = (): Promise<ChainHead> => readHead(prisma)
  return {
    settled: commit.idle,
    append: async record => commit.add(storableRecord(record)),
    list: query => listEntries(prisma, query),
    head,
    async verify(checkpoint) {
      const verifier = createChainVerifier(checkpoint)
      let last = 0n
      for (;;) {
        const rows = await prisma.auditRow.findMany({
          where: { sequence: { gt: last } },
          orderBy: { sequence: 'asc' },
          take: verifyPage,
        })
        verifier.add(rows.map(entryOf))
        last = rows.at(-1)?.sequence ?? last
        if (rows.length < verifyPage) return verifier.verdict()
      }
    },
  }
}

async function appendAll(prisma: PrismaClient, clock: Clock, records: readonly AuditRecord[]): Promise<readonly AuditEntry[]> {
  return prisma.$transaction(async transaction => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${appendLock})`
    const at = clock.now()
    const entries = nextEntries(
      await readHead(transaction),
      records.map(record => ({ record, at })),
    )
    await transaction.auditRow.createMany({ data: entries.map(columnsOf) })
    return entries
  })
}

async function readHead(prisma: Prisma.TransactionClient): Promise<ChainHead> {
  const row = await prisma.auditRow.findFirst({ orderBy: { sequence: 'desc' }, select: { sequence: true, hash: true } })
  return row === null ? emptyHead : { sequence: Number(row.sequence), hash: row.hash }
}

async function listEntries(prisma: PrismaClient, query: AuditQuery): Promise<readonly AuditEntry[]> {
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > 1000)
    throw new AppError('invalid_request', 'limit must be a whole number from 1 to 1000')
  const rows = await prisma.auditRow.findMany({
    where: {
      ...(query.namespace === undefined ? {} : { namespace: query.namespace }),
      ...(query.action === undefined ? {} : { action: query.action }),
      ...(query.actor === undefined ? {} : { actor: query.actor }),
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
