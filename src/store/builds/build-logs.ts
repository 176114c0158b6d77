// Build logs as the controllers keep them: a row for each build, and its log in compressed chunks. Every write is one
// transaction that moves the position of the reader together with the text, and it counts only on the revision that its writer
// knows: after a crash, or under a new leader, reading goes on where the database says, without loss and without a line twice.
// What is kept of a log is decided by the caller.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import type { PrismaClient } from '../generated/client.ts'
import { type BuildOutcome, type BuildRecord, type BuildStep, type NewBuildRecord, recordOf } from './build-record.ts'

/** Where a chunk is in the log, and how many bytes it takes in the database. */
export type ChunkExtent = {
  readonly sequence: number
  readonly step: string
  readonly firstByte: number
  readonly endByte: number
  readonly size: number
}

/** `content` by `compressText`. */
export type NewChunk = Omit<ChunkExtent, 'size'> & { readonly content: Uint8Array<ArrayBuffer> }

/** A log that is being written. */
export type OpenLog = {
  readonly record: BuildRecord
  readonly revision: number
  /** What the reader of the pod stored with the newest text; undefined before the first. */
  readonly position: JsonValue | undefined
  readonly chunks: readonly ChunkExtent[]
}

export type LogChange = {
  /** Added, or in the place of the chunk of the same sequence. */
  readonly put: readonly NewChunk[]
  /** Sequences to delete. */
  readonly drop: readonly number[]
  readonly position: JsonValue
  readonly steps: readonly BuildStep[]
  /** Of the whole log: bytes written, bytes that are not kept, bytes in the database. */
  readonly bytes: number
  readonly leftOut: number
  readonly stored: number
}

/** An owner of builds whose logs are kept. */
export type LogOwner = { readonly namespace: string; readonly remoteSync: string; readonly uid: string }

/**
 * What of the logs of one namespace is kept: those of builds that ended after `before`, the newest `maxStored` bytes in the
 * database.
 */
export type LogLimits = { readonly before: Date; readonly maxStored: number }

/** The port of the controllers. */
export type BuildLogs = {
  /** The build's row, made when it is new. A build that was taken for cancelled and still exists is open again. */
  readonly begin: (build: NewBuildRecord) => Promise<OpenLog>
  /** Resolves to the new revision. Rejects with `conflict` when another process wrote meanwhile: then nothing was written. */
  readonly append: (id: string, revision: number, change: LogChange) => Promise<number>
  /** Nothing is written for a build that has ended already. */
  readonly end: (id: string, ended: { readonly outcome: BuildOutcome; readonly cause?: string }) => Promise<void>
  /** Those of the builds whose log is complete. */
  readonly complete: (ids: readonly string[]) => Promise<ReadonlySet<string>>
  /** Up to 1,000 builds that have not ended, oldest first. */
  readonly open: () => Promise<readonly BuildRecord[]>
  /** Up to 5,000 owners of builds, in the order of their uids, after `uid`. */
  readonly owners: (after: string) => Promise<readonly LogOwner[]>
  /** Deletes every build of the owner with its log. Returns how many. */
  readonly deleteOf: (ownerUid: string) => Promise<number>
  /**
   * Deletes ended builds from before `before`, and of each namespace the oldest ones above `maxStored` bytes; `own`: the
   * limits of namespaces that have others. Returns how many.
   */
  readonly expire: (limits: LogLimits, own: ReadonlyMap<string, LogLimits>) => Promise<number>
}

const maxOpen = 1000
const maxOwners = 5000
/** What a row without a log counts for: otherwise builds without one would never be too many. */
const rowBytes = 1024

/** Build logs over Prisma, by the role of the controllers. */
export function createBuildLogs({ prisma, clock }: { readonly prisma: PrismaClient; readonly clock: Clock }): BuildLogs {
  async function opened(id: string): Promise<OpenLog> {
    const row = await prisma.buildRow.findUniqueOrThrow({ where: { id } })
    const chunks = await prisma.$queryRaw<{ sequence: number; step: string; first: bigint; end: bigint; size: number }[]>`
      SELECT sequence, step, first_byte AS first, end_byte AS end, octet_length(content) AS size
      FROM builds.chunks WHERE build_id = ${id}::uuid ORDER BY sequence`
    return {
      record: recordOf(row),
      revision: row.revision,
      position: row.revision === 0 ? undefined : (row.position as JsonValue),
      chunks: chunks.map(({ sequence, step, first, end, size }) => ({
        sequence,
        step,
        firstByte: Number(first),
        endByte: Number(end),
        size,
      })),
    }
  }

  return {
    async begin({ remoteSync, ...build }) {
      const owner = { remoteSync: remoteSync.name, remoteSyncUid: remoteSync.uid }
      await prisma.buildRow.createMany({ data: [{ ...build, ...owner, steps: [], position: {} }], skipDuplicates: true })
      await prisma.buildRow.updateMany({
        where: { id: build.id, outcome: 'Cancelled' },
        data: { endedAt: null, outcome: null, cause: null },
      })
      return opened(build.id)
    },
    async append(id, revision, { put, drop, position, steps, bytes, leftOut, stored }) {
      await prisma.$transaction(async transaction => {
        const { count } = await transaction.buildRow.updateMany({
          where: { id, revision },
          data: {
            revision: revision + 1,
            position: position as object,
            steps: steps as unknown as object,
            bytes: BigInt(bytes),
            leftOut: BigInt(leftOut),
            stored: BigInt(stored),
          },
        })
        if (count !== 1) throw new AppError('conflict', 'the log of the build was written by another process, or deleted')
        const replaced = [...drop, ...put.map(({ sequence }) => sequence)]
        if (replaced.length > 0)
          await transaction.buildChunkRow.deleteMany({ where: { buildId: id, sequence: { in: replaced } } })
        const createdAt = clock.now()
        await transaction.buildChunkRow.createMany({
          data: put.map(({ firstByte, endByte, ...chunk }) => {
            return { ...chunk, buildId: id, firstByte: BigInt(firstByte), endByte: BigInt(endByte), createdAt }
          }),
        })
      })
      return revision + 1
    },
    async end(id, { outcome, cause }) {
      await prisma.buildRow.updateMany({
        where: { id, endedAt: null },
        data: { endedAt: clock.now(), outcome, cause: cause ?? null },
      })
    },
    async complete(ids) {
      const rows = await prisma.buildRow.findMany({
        where: { id: { in: [...ids] }, endedAt: { not: null }, outcome: { not: 'Cancelled' } },
        select: { id: true },
      })
      return new Set(rows.map(({ id }) => id))
    },
    async open() {
      const rows = await prisma.buildRow.findMany({ where: { endedAt: null }, orderBy: { createdAt: 'asc' }, take: maxOpen })
      return rows.map(recordOf)
    },
    async owners(after) {
      const rows = await prisma.buildRow.findMany({
        distinct: ['remoteSyncUid'],
        where: { remoteSyncUid: { gt: after } },
        orderBy: { remoteSyncUid: 'asc' },
        select: { namespace: true, remoteSync: true, remoteSyncUid: true },
        take: maxOwners,
      })
      return rows.map(({ remoteSyncUid: uid, ...owner }) => ({ ...owner, uid }))
    },
    deleteOf: async ownerUid => (await prisma.buildRow.deleteMany({ where: { remoteSyncUid: ownerUid } })).count,
    async expire({ before, maxStored }, own) {
      const namespaces = [...own.keys()]
      const ends = [...own.values()].map(limits => limits.before.toISOString())
      const sizes = [...own.values()].map(limits => BigInt(limits.maxStored))
      const old = await prisma.$executeRaw`
        DELETE FROM builds.builds WHERE id IN (
          SELECT build.id FROM builds.builds AS build
          LEFT JOIN unnest(${namespaces}::text[], ${ends}::text[]) AS own(namespace, before) ON own.namespace = build.namespace
          WHERE build.ended_at < coalesce(own.before::timestamptz, ${before}))`
      const above = await prisma.$executeRaw`
        DELETE FROM builds.builds WHERE id IN (
          SELECT newest.id FROM (
            SELECT id, namespace, ended_at, sum(stored + ${rowBytes}) OVER (PARTITION BY namespace ORDER BY created_at DESC, id) AS total
            FROM builds.builds
          ) AS newest
          LEFT JOIN unnest(${namespaces}::text[], ${sizes}::bigint[]) AS own(namespace, most) ON own.namespace = newest.namespace
          WHERE newest.total > coalesce(own.most, ${BigInt(maxStored)}) AND newest.ended_at IS NOT NULL)`
      return old + above
    },
  }
}
