// People by host and numeric id, with their GitHub tokens sealed. Logins are for display only. It does not refresh tokens; it
// makes sure that one caller at a time does, in all processes.
import type { Clock } from '../lib/clock.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { Leases } from './database/leases.ts'
import type { PrismaClient, UserRow } from './generated/client.ts'
import type { Sealer } from './seal.ts'

/** A person who has signed in, with the GitHub tokens of the last sign-in or refresh. */
export type StoredUser = {
  readonly host: string
  readonly userId: number
  readonly login: string
  readonly accessToken: SecretString
  readonly accessTokenExpiresAt?: Date | undefined
  readonly refreshToken?: SecretString | undefined
  readonly refreshTokenExpiresAt?: Date | undefined
  /** The groups as last computed, for display and for when GitHub does not answer. */
  readonly groups: readonly string[]
}

/** The port for people. */
export type Users = {
  /** Creates or replaces the person's row. */
  readonly save: (user: StoredUser) => Promise<void>
  readonly find: (host: string, userId: number) => Promise<StoredUser | undefined>
  /** Deletes the person and the tokens. */
  readonly remove: (host: string, userId: number) => Promise<void>
  /**
   * Runs `work` while no other caller, in this or another process, runs it for the same person: GitHub's refresh tokens are
   * single use. `work` must re-read the user, and end within 30 s. Rejects with `unavailable` when the lock is not free within
   * 30 s.
   */
  readonly withRefreshLock: <T>(host: string, userId: number, work: () => Promise<T>) => Promise<T>
}

type UsersDeps = {
  readonly prisma: Pick<PrismaClient, 'userRow'>
  readonly sealer: Sealer
  readonly clock: Clock
  readonly leases: Leases
}

const lockSeconds = 40
const patienceSeconds = 30

/** Users over Prisma. */
export function createUsers(deps: UsersDeps): Users {
  const { prisma, sealer, clock, leases } = deps
  return {
    async save(user) {
      const { host, login } = user
      const userId = BigInt(user.userId)
      const columns = {
        login,
        sealedAccessToken: sealer.seal(user.accessToken, userSealContext('access', host, userId)),
        accessTokenExpiresAt: user.accessTokenExpiresAt ?? null,
        sealedRefreshToken:
          user.refreshToken === undefined ? null : sealer.seal(user.refreshToken, userSealContext('refresh', host, userId)),
        refreshTokenExpiresAt: user.refreshTokenExpiresAt ?? null,
        groups: [...user.groups],
        updatedAt: clock.now(),
      }
      await prisma.userRow.upsert({
        where: { host_userId: { host, userId } },
        create: { host, userId, ...columns },
        update: columns,
      })
    },
    async find(host, userId) {
      const row = await prisma.userRow.findUnique({ where: { host_userId: { host, userId: BigInt(userId) } } })
      return row === null ? undefined : userOf(sealer, row)
    },
    async remove(host, userId) {
      await prisma.userRow.deleteMany({ where: { host, userId: BigInt(userId) } })
    },
    withRefreshLock: (host, userId, work) =>
      leases.withLease(`user-refresh:${host}:${userId}`, { leaseSeconds: lockSeconds, patienceSeconds }, work),
  }
}

/** What binds the seal of a user's token to its row and column. */
export function userSealContext(token: 'access' | 'refresh', host: string, userId: bigint | string): string {
  return `user:${host}:${userId}:${token}`
}

function userOf(sealer: Sealer, row: UserRow): StoredUser {
  const { host, login, groups, accessTokenExpiresAt, sealedRefreshToken, refreshTokenExpiresAt } = row
  return {
    host,
    userId: Number(row.userId),
    login,
    groups,
    accessToken: sealer.open(row.sealedAccessToken, userSealContext('access', row.host, row.userId)),
    ...(accessTokenExpiresAt === null ? {} : { accessTokenExpiresAt }),
    ...(sealedRefreshToken === null
      ? {}
      : { refreshToken: sealer.open(sealedRefreshToken, userSealContext('refresh', row.host, row.userId)) }),
    ...(refreshTokenExpiresAt === null ? {} : { refreshTokenExpiresAt }),
  }
}
