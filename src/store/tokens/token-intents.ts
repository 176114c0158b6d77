// Intents to mint a token, the rows that tokens begin with, and the quota that counts them.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { PrismaClient } from '../generated/client.ts'
import { intentColumns, intentOf, type OrphanedIntent, type TokenIntent } from './installation-token.ts'

export type TokenIntents = {
  /** Resolves to the intent's id. */
  readonly intend: (intent: TokenIntent) => Promise<string>
  /** As `intend`, but undefined when the namespace already has `limit` intents since `since`; exact for concurrent callers. */
  readonly intendWithin: (
    intent: TokenIntent,
    quota: { readonly limit: number; readonly since: Date },
  ) => Promise<string | undefined>
  /** When `intendWithin` will accept again, with nothing else intended meanwhile. */
  readonly quotaFreeAt: (namespace: string, quota: { readonly limit: number; readonly since: Date }) => Promise<Date>
  /** Up to 1000 intents from before `olderThan` that have no outcome, oldest first. */
  readonly orphans: (olderThan: Date) => Promise<readonly OrphanedIntent[]>
}

type Deps = { readonly prisma: Pick<PrismaClient, 'tokenRow' | '$transaction'>; readonly clock: Clock }

/** Any number that no other two-part lock of this database uses. */
const quotaLock = 7312

/** In the rows of the registry. */
export function tokenIntents({ prisma, clock }: Deps): TokenIntents {
  const insert = async (tokens: PrismaClient['tokenRow'], intent: TokenIntent): Promise<string> => {
    const id = randomUUID()
    await tokens.create({ data: { ...intentColumns(intent), id, state: 'intended', intendedAt: clock.now() } })
    return id
  }
  return {
    intend: intent => insert(prisma.tokenRow, intent),
    async intendWithin(intent, quota) {
      const { namespace } = intent.subject
      return prisma.$transaction(async transaction => {
        // Callers of one namespace take turns, in all processes; other namespaces do not wait.
        await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${quotaLock}, hashtext(${namespace}))`
        const count = await transaction.tokenRow.count({ where: { namespace, intendedAt: { gt: quota.since } } })
        return count >= quota.limit ? undefined : insert(transaction.tokenRow, intent)
      })
    },
    async quotaFreeAt(namespace, { limit, since }) {
      const now = clock.now()
      // The youngest of those that have to leave the time that is counted.
      const [last] = await prisma.tokenRow.findMany({
        where: { namespace, intendedAt: { gt: since } },
        orderBy: { intendedAt: 'desc' },
        skip: Math.max(0, limit - 1),
        take: 1,
        select: { intendedAt: true },
      })
      return last === undefined ? now : new Date(last.intendedAt.getTime() + now.getTime() - since.getTime())
    },
    async orphans(olderThan) {
      const rows = await prisma.tokenRow.findMany({
        where: { state: 'intended', intendedAt: { lt: olderThan } },
        orderBy: { intendedAt: 'asc' },
        take: 1000,
      })
      return rows.map(row => ({ ...intentOf(row), id: row.id, intendedAt: row.intendedAt }))
    },
  }
}
