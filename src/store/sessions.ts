// Web sessions and single-use sign-in states. The handle is in the person's browser only; the store has its hash, and seals the
// data under that hash. It checks expiry on every read; it does not know cookies.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import { SecretString } from '../lib/secret-string.ts'
import { handleHash, newHandle } from './database/handles.ts'
import type { PrismaClient } from './generated/client.ts'
import type { Sealer } from './seal.ts'

/** A web session of a person. */
export type Session = {
  readonly host: string
  readonly userId: number
  readonly login: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Data of the caller, such as the CSRF secret. Sealed at rest. */
  readonly data: JsonValue
}

/** A person with at least one session. */
export type SignedInPerson = Pick<Session, 'host' | 'userId' | 'login'> & { readonly sessions: number }

/** A session to create; the store sets `createdAt`. */
export type NewSession = Omit<Session, 'createdAt'>

/** The port for sessions and sign-in states. A handle that is unknown, used, revoked or expired finds nothing. */
export type Sessions = {
  /** Stores `data` (sealed: it may hold a PKCE verifier) under a new single-use handle of 256 bits. */
  readonly createLoginState: (state: { readonly data: JsonValue; readonly expiresAt: Date }) => Promise<SecretString>
  /** Returns the data once, to one caller; undefined when unknown, used or expired. */
  readonly takeLoginState: (handle: string) => Promise<JsonValue | undefined>
  /**
   * True for one caller, who may go on; false for every later call with the same state, which must not be older than
   * `expiresAt`.
   */
  readonly useOnce: (state: string, expiresAt: Date) => Promise<boolean>
  /** Resolves to the handle for the person's cookie; only its hash is stored. */
  readonly create: (session: NewSession) => Promise<SecretString>
  /** Undefined when unknown, revoked or expired. */
  readonly find: (handle: string) => Promise<Session | undefined>
  readonly revoke: (handle: string) => Promise<void>
  /** People with sessions that have not expired, at most 1000, by host and id. */
  readonly people: () => Promise<readonly SignedInPerson[]>
  /** How many sessions of a person have not expired. */
  readonly countOf: (host: string, userId: number) => Promise<number>
  /** Ends every session of a person; returns how many. */
  readonly revokeAllOf: (host: string, userId: number) => Promise<number>
  /** Returns how many sessions and sign-in states were deleted. */
  readonly deleteExpired: (now: Date) => Promise<number>
}

const maxPeople = 1000

type SessionsDeps = {
  readonly prisma: Pick<PrismaClient, 'sessionRow' | 'loginStateRow' | '$queryRaw'>
  readonly sealer: Sealer
  readonly clock: Clock
}

/** Sessions over Prisma. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { prisma, sealer, clock } = deps
  const seal = (data: JsonValue, context: string): string => sealer.seal(new SecretString(JSON.stringify(data)), context)
  const open = (sealed: string, context: string): JsonValue => JSON.parse(sealer.open(sealed, context).reveal()) as JsonValue
  return {
    async createLoginState({ data, expiresAt }) {
      const { handle, hash } = newHashedHandle('login-state')
      await prisma.loginStateRow.create({ data: { handleHash: hash, sealedData: seal(data, hash), expiresAt } })
      return handle
    },
    async takeLoginState(handle) {
      const hash = handleHash('login-state', handle)
      if (hash === undefined) return undefined
      // DELETE … RETURNING: of two concurrent callers one gets the row.
      const taken = await prisma.$queryRaw<{ sealed: string; expires: Date }[]>`
        DELETE FROM broker.login_states WHERE handle_hash = ${hash} RETURNING sealed_data AS sealed, expires_at AS expires`
      const [row] = taken
      return row === undefined || row.expires <= clock.now() ? undefined : open(row.sealed, hash)
    },
    async useOnce(state, expiresAt) {
      const hash = handleHash('used-state', state)
      if (hash === undefined) return false
      // The row says only that it was used: nothing is sealed in it, and no handle of `takeLoginState` has this hash.
      const used = await prisma.loginStateRow.createMany({
        data: [{ handleHash: hash, sealedData: '', expiresAt }],
        skipDuplicates: true,
      })
      return used.count === 1
    },
    async create(session) {
      const { handle, hash } = newHashedHandle('session')
      const { host, login, expiresAt } = session
      await prisma.sessionRow.create({
        data: {
          handleHash: hash,
          host,
          userId: BigInt(session.userId),
          login,
          sealedData: seal(session.data, hash),
          createdAt: clock.now(),
          expiresAt,
        },
      })
      return handle
    },
    async find(handle) {
      const hash = handleHash('session', handle)
      if (hash === undefined) return undefined
      const row = await prisma.sessionRow.findUnique({ where: { handleHash: hash, expiresAt: { gt: clock.now() } } })
      if (row === null) return undefined
      const { host, login, createdAt, expiresAt } = row
      return { host, userId: Number(row.userId), login, createdAt, expiresAt, data: open(row.sealedData, hash) }
    },
    async revoke(handle) {
      const hash = handleHash('session', handle)
      if (hash !== undefined) await prisma.sessionRow.deleteMany({ where: { handleHash: hash } })
    },
    async people() {
      const groups = await prisma.sessionRow.groupBy({
        by: ['host', 'userId'],
        where: { expiresAt: { gt: clock.now() } },
        _count: { _all: true },
        _max: { login: true },
        orderBy: [{ host: 'asc' }, { userId: 'asc' }],
        take: maxPeople,
      })
      return groups.map(({ host, userId, _count, _max }) => {
        return { host, userId: Number(userId), login: _max.login ?? '', sessions: _count._all }
      })
    },
    countOf: (host, userId) =>
      prisma.sessionRow.count({ where: { host, userId: BigInt(userId), expiresAt: { gt: clock.now() } } }),
    async revokeAllOf(host, userId) {
      return (await prisma.sessionRow.deleteMany({ where: { host, userId: BigInt(userId) } })).count
    },
    async deleteExpired(now) {
      const sessions = await prisma.sessionRow.deleteMany({ where: { expiresAt: { lte: now } } })
      const states = await prisma.loginStateRow.deleteMany({ where: { expiresAt: { lte: now } } })
      return sessions.count + states.count
    },
  }
}

function newHashedHandle(purpose: string): { readonly handle: SecretString; readonly hash: string } {
  const handle = newHandle()
  const hash = handleHash(purpose, handle.reveal())
  if (hash === undefined) throw new AppError('internal', 'a new handle has no hash')
  return { handle, hash }
}
