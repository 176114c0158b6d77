// The tokens that this process minted and ended lately, as their rows are: sealed. A database that failed over to a copy that
// lagged, or was restored, has lost rows of tokens that GitHub accepts, which nobody could revoke, and the ends of others. From
// here the rows are written again, to be revoked. It holds no token in plain text.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Prisma, PrismaClient, TokenRow } from '../generated/client.ts'

export type RecentTokens = {
  /** The row of a token that GitHub accepts from now on. */
  readonly minted: (row: TokenRow) => void
  /** The token cannot be delivered any more; GitHub may still accept it. */
  readonly ended: (id: string) => void
  /** GitHub does not accept the token any more. */
  readonly revoked: (id: string) => void
  /**
   * Writes rows that are gone again, in the state `revoking`, and ends again what this process had ended. Resolves to their
   * number.
   */
  readonly restoreLost: () => Promise<number>
}

const most = 2000
/** More than a copy lags, and than a failover takes. */
const keptMilliseconds = 15 * 60_000
const reason = 'the database had lost the record of this token'

// Memory (recent tokens): id → sealed row, to be written again and revoked when the database lost it
//   life: 15 minutes
//   bound: 2,000 minted and 2,000 ended, the oldest forgotten first
//   freshness: the token’s end
//   replicas: each restores its own
export function createRecentTokens(deps: {
  readonly prisma: Pick<PrismaClient, 'tokenRow'>
  readonly clock: Clock
}): RecentTokens {
  const { prisma, clock } = deps
  const minted = new BoundedMap<{ readonly row: TokenRow; readonly at: number }>(most)
  const ended = new BoundedMap<{ readonly at: number }>(most)
  const now = (): number => clock.now().getTime()
  const forgetOld = (): void => {
    for (const known of [minted, ended]) for (const [id, { at }] of known) if (at < now() - keptMilliseconds) known.delete(id)
  }
  const restoreMinted = async (): Promise<number> => {
    const known = [...minted.values()].map(({ row }) => row)
    const found = await prisma.tokenRow.findMany({ where: { id: { in: known.map(({ id }) => id) } }, select: { id: true } })
    const present = new Set(found.map(({ id }) => id))
    const lost = known.filter(({ id }) => !present.has(id))
    if (lost.length === 0) return 0
    return (await prisma.tokenRow.createMany({ data: lost.map(row => toRevoke(row, clock.now())), skipDuplicates: true })).count
  }
  return {
    minted: row => void minted.set(row.id, { row, at: now() }),
    ended: id => void ended.set(id, { at: now() }),
    revoked(id) {
      minted.delete(id)
      ended.set(id, { at: now() })
    },
    async restoreLost() {
      forgetOld()
      const again = await prisma.tokenRow.updateMany({
        where: { id: { in: [...ended.keys()] }, state: 'minted' },
        data: { state: 'revoking', reason, endingAt: clock.now() },
      })
      return again.count + (await restoreMinted())
    },
  }
}

function toRevoke(row: TokenRow, endingAt: Date): Prisma.TokenRowCreateManyInput {
  const requestedPermissions = row.requestedPermissions as Prisma.InputJsonObject
  const facts = row.facts as Prisma.InputJsonObject
  const permissions = row.permissions as Prisma.InputJsonObject
  return { ...row, requestedPermissions, permissions, facts, state: 'revoking', reason, endingAt }
}
