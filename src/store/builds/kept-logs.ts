// Build logs as the broker shows them: it reads what the controllers wrote, and its role in the database can do nothing else.
// Who may read which build is decided by the caller.
import { rebasePrefix } from '../../api/names.ts'
import { defined } from '../../lib/json/defined.ts'
import type { PrismaClient } from '../generated/client.ts'
import { type BuildRecord, recordOf } from './build-record.ts'
import { decompressText } from './log-text.ts'

/** A kept piece of a log. Between the end of one and the beginning of the next, text may be left out. */
export type LogPiece = { readonly step: string; readonly firstByte: number; readonly endByte: number; readonly text: Buffer }

/** The port of the broker. */
export type KeptLogs = {
  /** The newest first, of one RemoteSync when `remoteSync` is given. */
  readonly list: (
    namespace: string,
    options: { readonly remoteSync?: string; readonly limit: number },
  ) => Promise<readonly BuildRecord[]>
  /**
   * The newest build of that name, else the newest one of the RemoteSync of that name that built a commit: a rebase is found by
   * its own name only.
   */
  readonly find: (namespace: string, name: string) => Promise<BuildRecord | undefined>
  /** As it is now; undefined when it was deleted. */
  readonly get: (id: string) => Promise<BuildRecord | undefined>
  /** Pieces that end after byte `from`, in order; the first one begins there at the earliest. At most half a megabyte. */
  readonly after: (id: string, from: number) => Promise<readonly LogPiece[]>
  /** Pieces that begin before byte `end`, the last one first. At most half a megabyte. */
  readonly before: (id: string, end: number) => Promise<readonly LogPiece[]>
}

const maxPieces = 8

type Row = { readonly step: string; readonly firstByte: bigint; readonly endByte: bigint; readonly content: Uint8Array }

function pieceOf({ step, firstByte, endByte, content }: Row): LogPiece {
  return { step, firstByte: Number(firstByte), endByte: Number(endByte), text: decompressText(content) }
}

/** Kept logs over Prisma, by the role of the broker. */
export function createKeptLogs({ prisma }: { readonly prisma: Pick<PrismaClient, 'buildRow' | 'buildChunkRow'> }): KeptLogs {
  const newest = { createdAt: 'desc' } as const
  return {
    async list(namespace, { remoteSync, limit }) {
      const where = { namespace, ...defined({ remoteSync }) }
      return (await prisma.buildRow.findMany({ where, orderBy: newest, take: limit })).map(recordOf)
    },
    async find(namespace, name) {
      const row =
        (await prisma.buildRow.findFirst({ where: { namespace, name }, orderBy: newest })) ??
        (await prisma.buildRow.findFirst({
          where: { namespace, remoteSync: name, NOT: { name: { startsWith: rebasePrefix(name) } } },
          orderBy: newest,
        }))
      return row === null ? undefined : recordOf(row)
    },
    async get(id) {
      const row = await prisma.buildRow.findUnique({ where: { id } })
      return row === null ? undefined : recordOf(row)
    },
    async after(id, from) {
      const where = { buildId: id, endByte: { gt: BigInt(from) } }
      const rows = await prisma.buildChunkRow.findMany({ where, orderBy: { sequence: 'asc' }, take: maxPieces })
      return rows.map(pieceOf).map(piece => {
        if (piece.firstByte >= from) return piece
        return { ...piece, firstByte: from, text: piece.text.subarray(from - piece.firstByte) }
      })
    },
    async before(id, end) {
      const where = { buildId: id, firstByte: { lt: BigInt(end) } }
      return (await prisma.buildChunkRow.findMany({ where, orderBy: { sequence: 'desc' }, take: maxPieces })).map(pieceOf)
    },
  }
}
