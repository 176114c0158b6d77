// The registry of installation tokens: every token from the intent to mint it to its end. A token is sealed while it may be
// alive, and its ciphertext is deleted when it is not. It never calls GitHub and never decides who may have a token.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { PrismaClient } from './generated/client.ts'
import type { Sealer } from './seal.ts'
import { createDeliveries } from './tokens/deliveries.ts'
import { createBackwardsWatch, toleratedStepMilliseconds } from './tokens/backwards-watch.ts'
import {
  type EndedTokens,
  type EndingToken,
  type ExpiredToken,
  endingToken,
  expiredToken,
  filterColumns,
  type InstallationIdentity,
  type LiveToken,
  type LiveTokenFilter,
  liveToken,
  type MintedFacts,
  mintedColumns,
} from './tokens/installation-token.ts'
import { createRecentTokens, type RecentTokens } from './tokens/recent-tokens.ts'
import { countTokens, type TokenCounts } from './tokens/token-counts.ts'
import { type TokenIntents, tokenIntents } from './tokens/token-intents.ts'

export { hashedToken } from './tokens/hashed-token.ts'
export type {
  EndedTokens,
  EndingToken,
  ExpiredToken,
  InstallationIdentity,
  LiveToken,
  LiveTokenFilter,
  MintedFacts,
  OrphanedIntent,
  TokenFacts,
  TokenIntent,
  TokenPermissions,
  TokenSubject,
} from './tokens/installation-token.ts'
export { platformSubjectKind } from './tokens/installation-token.ts'
export type { TokenCounts } from './tokens/token-counts.ts'

// Memory (token registry in the store): SHA-256 of canonical {host, App, installation, ids, permissions, subject} → encrypted
//     token
//   life: reused while at least 10 minutes remain, of a workload 5
//   bound: one row of each mint
//   freshness: revocation; expiry, when the ciphertext is deleted
//   replicas: in the store
/** The port for the life of installation tokens: intended, then minted or abandoned, then revoking and revoked. */
export type TokenRegistry = TokenIntents & {
  /**
   * Throws `conflict` unless the intent is open. With a reason in `revoking`, the token is under revocation from the start and
   * can never be delivered.
   */
  readonly recordMinted: (id: string, minted: MintedFacts, revoking?: string) => Promise<void>
  /**
   * The deliverable token of that cache key that expires last, if it lives for `minimumLifeSeconds` more. `madeBy`: only of these
   * installations.
   */
  readonly findLive: (
    cacheKey: string,
    minimumLifeSeconds: number,
    madeBy?: readonly InstallationIdentity[],
  ) => Promise<LiveToken | undefined>
  /** Throws `conflict` when the token can no longer be delivered. */
  readonly recordDelivered: (id: string) => Promise<void>
  /**
   * From now on the tokens are found by `liveBy` only and cannot be delivered, all at once; they stay sealed so that the
   * revocation can be retried.
   */
  readonly markRevoking: (ids: readonly string[], reason: string) => Promise<void>
  /** As `markRevoking`, of all tokens whose life is over (`MintedFacts.livesUntil`). */
  readonly markOutlived: (now: Date, reason: string) => Promise<void>
  /** Up to 1000 tokens whose revocation began and has not ended, and that are not expired; those to be tried first come first. */
  readonly revoking: () => Promise<readonly EndingToken[]>
  /** GitHub did not revoke the token: counts the attempt and records when the next one is due. */
  readonly deferRevocation: (id: string, next: { readonly retryAt: Date; readonly suspended: boolean }) => Promise<void>
  /** Ends the token and deletes its ciphertext. */
  readonly markRevoked: (id: string, reason: string) => Promise<void>
  /** Ends an intent for which GitHub minted no token, or whose token is known to be dead. */
  readonly abandon: (id: string, reason: string) => Promise<void>
  /** Throws `invalid_request` for a filter without any field. */
  readonly liveBy: (filter: LiveTokenFilter) => Promise<readonly EndingToken[]>
  /** How the tokens that were to end for exactly this reason ended, while their rows are kept. */
  readonly endedFor: (reason: string) => Promise<EndedTokens>
  /** Whether `liveBy` would find a token that can still be delivered; opens none. */
  readonly hasLive: (filter: LiveTokenFilter) => Promise<boolean>
  /** Up to 1000 tokens that expired before GitHub revoked them. */
  readonly expiredUnrevoked: () => Promise<readonly ExpiredToken[]>
  /** Ends every token that has expired and deletes its ciphertext. */
  readonly expire: (now: Date) => Promise<void>
  /** How many tokens may be alive now. */
  readonly counts: () => Promise<TokenCounts>
  /** Returns how many rows were deleted. */
  readonly deleteExpired: (now: Date) => Promise<number>
}

type TokenRegistryDeps = {
  readonly prisma: Pick<PrismaClient, 'tokenRow' | '$transaction'>
  readonly sealer: Sealer
  readonly clock: Clock
}

const quotaMemoryMilliseconds = 2 * 60 * 60 * 1000

/**
 * The registry over Prisma; one per process, since it remembers the latest time that the clock has shown, and what it wrote
 * lately. `restoreLost` is for a database that has lost what was durable.
 */
export function createTokenRegistry(deps: TokenRegistryDeps): TokenRegistry & Pick<RecentTokens, 'restoreLost'> {
  const recent = createRecentTokens(deps)
  return {
    restoreLost: recent.restoreLost,
    ...tokenIntents(deps),
    ...outcomes(deps, recent),
    ...liveTokens(deps),
    async deleteExpired(now) {
      // Ended rows stay as long as the quota may count them.
      const counted = new Date(now.getTime() - quotaMemoryMilliseconds)
      const { count } = await deps.prisma.tokenRow.deleteMany({
        where: {
          OR: [
            { state: { in: ['minted', 'revoking'] }, expiresAt: { lt: now }, intendedAt: { lt: counted } },
            { state: { in: ['revoked', 'abandoned', 'expired'] }, intendedAt: { lt: counted } },
          ],
        },
      })
      return count
    },
  }
}

type Outcomes = Pick<
  TokenRegistry,
  'recordMinted' | 'recordDelivered' | 'markRevoking' | 'markOutlived' | 'deferRevocation' | 'markRevoked' | 'abandon' | 'expire'
>

function outcomes({ prisma, sealer, clock }: TokenRegistryDeps, recent: RecentTokens): Outcomes {
  const tokens = prisma.tokenRow
  const end = async (id: string, from: readonly string[], state: 'revoked' | 'abandoned', reason: string): Promise<void> => {
    await tokens.updateMany({
      where: { id, state: { in: [...from] } },
      data: { state, reason: reason.slice(0, 1024), sealedToken: null },
    })
    recent.revoked(id)
  }
  return {
    async recordMinted(id, minted, revoking) {
      const [row] = await tokens.updateManyAndReturn({
        where: { id, state: 'intended' },
        data: {
          ...(revoking === undefined ? { state: 'minted' } : revokingColumns(revoking, clock.now())),
          ...mintedColumns(sealer, id, minted),
          mintedAt: clock.now(),
        },
      })
      if (row === undefined) throw new AppError('conflict', 'the registry has no open intent for this token')
      recent.minted(row)
    },
    recordDelivered: createDeliveries({ prisma, clock }),
    async markRevoking(ids, reason) {
      await tokens.updateMany({
        where: { id: { in: [...ids] }, state: 'minted' },
        data: revokingColumns(reason, clock.now()),
      })
      for (const id of ids) recent.ended(id)
    },
    async markOutlived(now, reason) {
      const rows = await tokens.updateManyAndReturn({
        where: { state: 'minted', livesUntil: { lte: now } },
        data: revokingColumns(reason, now),
        select: { id: true },
      })
      for (const { id } of rows) recent.ended(id)
    },
    async deferRevocation(id, { retryAt, suspended }) {
      await tokens.updateMany({ where: { id, state: 'revoking' }, data: { attempts: { increment: 1 }, retryAt, suspended } })
    },
    markRevoked: (id, reason) => end(id, ['minted', 'revoking'], 'revoked', reason),
    abandon: (id, reason) => end(id, ['intended', 'minted', 'revoking'], 'abandoned', reason),
    async expire(now) {
      await tokens.updateMany({
        where: { state: { in: ['minted', 'revoking'] }, expiresAt: { lte: now } },
        data: { state: 'expired', sealedToken: null },
      })
    },
  }
}

/** The first cause stays: only a token that can be delivered gets them. */
function revokingColumns(reason: string, at: Date) {
  return { state: 'revoking', reason: reason.slice(0, 1024), endingAt: at }
}

type LiveTokens = Omit<TokenRegistry, keyof Outcomes | keyof TokenIntents | 'deleteExpired'>

function liveTokens({ prisma, sealer, clock }: TokenRegistryDeps): LiveTokens {
  const tokens = prisma.tokenRow
  const clockWasSetBack = createBackwardsWatch(clock)
  const soon = (): Date => new Date(clock.now().getTime() + toleratedStepMilliseconds)
  /**
   * After a step back it is unknown which tokens are alive; a token minted in the future was minted before a step. Both are
   * revoked.
   */
  const endUntrusted = async (all: boolean): Promise<void> => {
    await tokens.updateMany({
      where: { state: 'minted', ...(all ? {} : { mintedAt: { gt: soon() } }) },
      data: revokingColumns('the clock was set back: the remaining life of the token is unknown', clock.now()),
    })
  }
  const endedAs = (state: string, reason: string) => tokens.count({ where: { state, reason } })
  return {
    async findLive(cacheKey, minimumLifeSeconds, madeBy) {
      if (clockWasSetBack()) await endUntrusted(true)
      const until = new Date(clock.now().getTime() + minimumLifeSeconds * 1000)
      const row = await tokens.findFirst({
        where: {
          ...{ cacheKey, state: 'minted', expiresAt: { gte: until }, mintedAt: { lte: soon() } },
          OR: [{ livesUntil: null }, { livesUntil: { gte: until } }],
          ...(madeBy && { AND: { OR: madeBy.map(installation => filterColumns({ installation })) } }),
        },
        orderBy: { expiresAt: 'desc' },
      })
      return row === null ? undefined : liveToken(sealer, row)
    },
    async revoking() {
      await endUntrusted(clockWasSetBack())
      const rows = await tokens.findMany({
        where: { state: 'revoking', expiresAt: { gt: clock.now() } },
        orderBy: { retryAt: { sort: 'asc', nulls: 'first' } },
        take: 1000,
      })
      return rows.map(row => endingToken(sealer, row))
    },
    async expiredUnrevoked() {
      const rows = await tokens.findMany({ where: { state: 'revoking', expiresAt: { lte: clock.now() } }, take: 1000 })
      return rows.map(expiredToken)
    },
    async liveBy(filter) {
      if (Object.values(filter).every(value => value === undefined))
        throw new AppError('invalid_request', 'liveBy needs at least one field of LiveTokenFilter')
      const rows = await tokens.findMany({
        where: { ...filterColumns(filter), state: { in: ['minted', 'revoking'] }, expiresAt: { gt: clock.now() } },
        orderBy: { expiresAt: 'asc' },
      })
      return rows.map(row => endingToken(sealer, row))
    },
    endedFor: async reason => ({ revoked: await endedAs('revoked', reason), expired: await endedAs('expired', reason) }),
    counts: () => countTokens(tokens, clock.now()),
    async hasLive(filter) {
      const where = { ...filterColumns(filter), state: 'minted', expiresAt: { gt: clock.now() } }
      return (await tokens.findFirst({ where, select: { id: true } })) !== null
    },
  }
}
