// The registry of installation tokens: every token from the intent to mint it to its end. A token is sealed while it may be alive and its
// ciphertext is gone the moment it is not; the seal is bound to the row. It never talks to GitHub and never decides who may have a token.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { createBackwardsWatch, toleratedStepMilliseconds } from './backwards-watch.ts'
import type { Prisma, PrismaClient, TokenRow } from './generated/client.ts'
import type { Sealer } from './seal.ts'

/** Any number that no other two-part lock of this database uses. */
const quotaLock = 7312
const quotaMemoryMilliseconds = 2 * 60 * 60 * 1000

/** An installation by what identifies it: its numbers are unique per host and App only. */
export type InstallationIdentity = { readonly host: string; readonly appId: number; readonly installationId: number }

export type TokenSubject = { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string }

export type TokenPermissions = { readonly [permission: string]: string }

/** What is about to be minted, for whom, under which grant. */
export type TokenIntent = {
  readonly cacheKey: string
  readonly installation: InstallationIdentity
  readonly grantUid: string
  readonly grantName: string
  readonly subject: TokenSubject
  readonly repositoryIds: readonly number[]
  readonly permissions: TokenPermissions
}

export type MintedFacts = {
  readonly token: SecretString
  readonly expiresAt: Date
  readonly repositoryIds: readonly number[]
  readonly permissions: TokenPermissions
}

/** A token that GitHub still honours as far as we know. */
export type LiveToken = TokenIntent & MintedFacts & { readonly id: string; readonly mintedAt: Date }

/** An intent that never got an outcome: the process ended between the request to GitHub and the record of its answer. */
export type OrphanedIntent = TokenIntent & { readonly id: string; readonly intendedAt: Date }

export type LiveTokenFilter = {
  readonly installation?: InstallationIdentity
  readonly grantUid?: string
  readonly repositoryId?: number
  readonly namespace?: string
}

export type TokenRegistry = {
  /** Resolves to the intent's id. */
  readonly intend: (intent: TokenIntent) => Promise<string>
  /** As `intend`, but undefined when the namespace already has `limit` intents since `since`; exact for concurrent callers. */
  readonly intendWithin: (
    intent: TokenIntent,
    quota: { readonly limit: number; readonly since: Date },
  ) => Promise<string | undefined>
  /** With `revoking`, a reason, it is under revocation from the first moment and can never be delivered. */
  readonly recordMinted: (id: string, minted: MintedFacts, revoking?: string) => Promise<void>
  readonly findLive: (cacheKey: string, minimumLifeSeconds: number) => Promise<LiveToken | undefined>
  readonly recordDelivered: (id: string) => Promise<void>
  /** From now on the token is found by `liveBy` only and cannot be delivered; it stays sealed so that revoking can be tried again. */
  readonly markRevoking: (id: string, reason: string) => Promise<void>
  /** Tokens whose revocation began and has not ended, and that are not expired. */
  readonly revoking: () => Promise<readonly LiveToken[]>
  readonly markRevoked: (id: string, reason: string) => Promise<void>
  /** The intent came to nothing: GitHub minted no token, or the token is known to be dead. */
  readonly abandon: (id: string, reason: string) => Promise<void>
  /** All filters given must hold; at least one must be given. */
  readonly liveBy: (filter: LiveTokenFilter) => Promise<readonly LiveToken[]>
  readonly orphans: (olderThan: Date) => Promise<readonly OrphanedIntent[]>
  /** Intents of a namespace since a moment: what the quota counts. */
  readonly countIntended: (namespace: string, since: Date) => Promise<number>
  /** Returns how many rows went away. */
  readonly deleteExpired: (now: Date) => Promise<number>
}

type TokenRegistryDeps = { readonly prisma: PrismaClient; readonly sealer: Sealer; readonly clock: Clock }

export function createTokenRegistry(deps: TokenRegistryDeps): TokenRegistry {
  const { prisma, sealer, clock } = deps
  const tokens = prisma.tokenRow
  const wasSetBack = createBackwardsWatch(clock)
  const soon = (): Date => new Date(clock.now().getTime() + toleratedStepMilliseconds)
  /** After a step back nobody knows which tokens still live; one from the future was minted before a step. They end. */
  const endUntrusted = async (all: boolean): Promise<void> => {
    await tokens.updateMany({
      where: { state: 'minted', ...(all ? {} : { mintedAt: { gt: soon() } }) },
      data: { state: 'revoking', reason: 'the clock was set back: nobody knows how long the token still lives' },
    })
  }
  const end = async (id: string, from: readonly string[], state: 'revoked' | 'abandoned', reason: string): Promise<void> => {
    await tokens.updateMany({
      where: { id, state: { in: [...from] } },
      data: { state, reason: reason.slice(0, 1024), sealedToken: null },
    })
  }
  return {
    async intend(intent) {
      const id = randomUUID()
      await tokens.create({ data: { ...intentColumns(intent), id, state: 'intended', intendedAt: clock.now() } })
      return id
    },
    async intendWithin(intent, quota) {
      const { namespace } = intent.subject
      return prisma.$transaction(async transaction => {
        // Callers of one namespace take turns, in all processes; other namespaces do not wait.
        await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${quotaLock}, hashtext(${namespace}))`
        const count = await transaction.tokenRow.count({ where: { namespace, intendedAt: { gt: quota.since } } })
        if (count >= quota.limit) return undefined
        const id = randomUUID()
        await transaction.tokenRow.create({ data: { ...intentColumns(intent), id, state: 'intended', intendedAt: clock.now() } })
        return id
      })
    },
    async recordMinted(id, minted, revoking) {
      const { count } = await tokens.updateMany({
        where: { id, state: 'intended' },
        data: {
          ...(revoking === undefined ? { state: 'minted' } : { state: 'revoking', reason: revoking.slice(0, 1024) }),
          sealedToken: sealer.seal(minted.token, sealContext(id)),
          expiresAt: minted.expiresAt,
          mintedAt: clock.now(),
          repositoryIds: minted.repositoryIds.map(BigInt),
          permissions: minted.permissions,
        },
      })
      if (count !== 1) throw new AppError('conflict', 'the registry has no open intent for this token')
    },
    async findLive(cacheKey, minimumLifeSeconds) {
      if (wasSetBack()) await endUntrusted(true)
      const until = new Date(clock.now().getTime() + minimumLifeSeconds * 1000)
      const row = await tokens.findFirst({
        where: { cacheKey, state: 'minted', expiresAt: { gte: until }, mintedAt: { lte: soon() } },
        orderBy: { expiresAt: 'desc' },
      })
      return row === null ? undefined : liveToken(sealer, row)
    },
    async recordDelivered(id) {
      const { count } = await tokens.updateMany({
        where: { id, state: 'minted' },
        data: { deliveredAt: clock.now(), deliveries: { increment: 1 } },
      })
      if (count !== 1) throw new AppError('conflict', 'the token was revoked before it could be delivered')
    },
    async markRevoking(id, reason) {
      await tokens.updateMany({ where: { id, state: 'minted' }, data: { state: 'revoking', reason: reason.slice(0, 1024) } })
    },
    async revoking() {
      await endUntrusted(wasSetBack())
      const rows = await tokens.findMany({ where: { state: 'revoking', expiresAt: { gt: clock.now() } }, take: 1000 })
      return rows.map(row => liveToken(sealer, row))
    },
    markRevoked: (id, reason) => end(id, ['minted', 'revoking'], 'revoked', reason),
    abandon: (id, reason) => end(id, ['intended', 'minted', 'revoking'], 'abandoned', reason),
    async liveBy(filter) {
      if (Object.values(filter).every(value => value === undefined))
        throw new AppError('invalid_request', 'liveBy needs at least one of installation, grantUid, repositoryId, namespace')
      const rows = await tokens.findMany({
        where: { ...filterColumns(filter), state: { in: ['minted', 'revoking'] }, expiresAt: { gt: clock.now() } },
        orderBy: { expiresAt: 'asc' },
      })
      return rows.map(row => liveToken(sealer, row))
    },
    async orphans(olderThan) {
      const rows = await tokens.findMany({
        where: { state: 'intended', intendedAt: { lt: olderThan } },
        orderBy: { intendedAt: 'asc' },
        take: 1000,
      })
      return rows.map(row => ({ ...intentOf(row), id: row.id, intendedAt: row.intendedAt }))
    },
    countIntended: (namespace, since) => tokens.count({ where: { namespace, intendedAt: { gt: since } } }),
    async deleteExpired(now) {
      // Ended rows stay as long as the quota may count them.
      const counted = new Date(now.getTime() - quotaMemoryMilliseconds)
      const { count } = await tokens.deleteMany({
        where: {
          OR: [
            { state: { in: ['minted', 'revoking'] }, expiresAt: { lt: now }, intendedAt: { lt: counted } },
            { state: { in: ['revoked', 'abandoned'] }, intendedAt: { lt: counted } },
          ],
        },
      })
      return count
    },
  }
}

function sealContext(id: string): string {
  return `token:${id}`
}

function intentColumns(intent: TokenIntent) {
  return {
    cacheKey: intent.cacheKey,
    host: intent.installation.host,
    appId: BigInt(intent.installation.appId),
    installationId: BigInt(intent.installation.installationId),
    namespace: intent.subject.namespace,
    grantUid: intent.grantUid,
    grantName: intent.grantName,
    subjectKind: intent.subject.kind,
    subjectName: intent.subject.name,
    subjectUid: intent.subject.uid,
    requestedIds: intent.repositoryIds.map(BigInt),
    requestedPermissions: intent.permissions,
    repositoryIds: [],
    permissions: {},
  }
}

function intentOf(row: TokenRow): TokenIntent {
  return {
    cacheKey: row.cacheKey,
    installation: { host: row.host, appId: Number(row.appId), installationId: Number(row.installationId) },
    grantUid: row.grantUid,
    grantName: row.grantName,
    subject: { kind: row.subjectKind, namespace: row.namespace, name: row.subjectName, uid: row.subjectUid },
    repositoryIds: row.requestedIds.map(Number),
    permissions: row.requestedPermissions as TokenPermissions,
  }
}

function liveToken(sealer: Sealer, row: TokenRow): LiveToken {
  if (row.sealedToken === null || row.expiresAt === null || row.mintedAt === null)
    throw new AppError('integrity_violation', 'a minted token has no sealed value')
  return {
    ...intentOf(row),
    id: row.id,
    token: sealer.open(row.sealedToken, sealContext(row.id)),
    expiresAt: row.expiresAt,
    mintedAt: row.mintedAt,
    repositoryIds: row.repositoryIds.map(Number),
    permissions: row.permissions as TokenPermissions,
  }
}

function filterColumns(filter: LiveTokenFilter): Prisma.TokenRowWhereInput {
  const { installation, grantUid, repositoryId, namespace } = filter
  return {
    ...(installation === undefined
      ? {}
      : {
          host: installation.host,
          appId: BigInt(installation.appId),
          installationId: BigInt(installation.installationId),
        }),
    ...(grantUid === undefined ? {} : { grantUid }),
    ...(repositoryId === undefined ? {} : { repositoryIds: { has: BigInt(repositoryId) } }),
    ...(namespace === undefined ? {} : { namespace }),
  }
}
