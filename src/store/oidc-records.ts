// Storage behind the OIDC provider: codes, refresh tokens, grants, device codes. Ids are bearer values, so only their hash is
// stored and the payload is sealed under it. It does not know OIDC; the rules of reuse and rotation are the provider's.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import { SecretString } from '../lib/secret-string.ts'
import { handleHash } from './database/handles.ts'
import type { OidcRow, PrismaClient } from './generated/client.ts'
import type { Sealer } from './seal.ts'

/** The JSON form of what the provider stores. */
export type OidcPayload = { readonly [key: string]: JsonValue | undefined }

/**
 * Other handles by which a record can be found or revoked. `account` is the subject of the person, which is not a secret:
 * stored as it is.
 */
export type OidcLookup = {
  readonly grantId?: string | undefined
  readonly userCode?: string | undefined
  readonly uid?: string | undefined
  readonly account?: string | undefined
}

/** A record of a model of the provider; without `expiresAt` it does not expire. */
export type OidcRecord = {
  readonly model: string
  readonly id: string
  readonly payload: OidcPayload
  readonly expiresAt: Date | undefined
  readonly lookup?: OidcLookup
}

/** `consumed` is in seconds since 1970, as the provider expects it in the payload. */
export type FoundOidcRecord = { readonly payload: OidcPayload; readonly consumed?: number }

/** Storage for the OIDC provider's adapter: https://github.com/panva/node-oidc-provider/blob/main/example/my_adapter.js */
export type OidcRecords = {
  /**
   * Creates or replaces a record; what it was consumed at stays. Throws `invalid_request` for an id that is empty or above 4096
   * characters.
   */
  readonly upsert: (record: OidcRecord) => Promise<void>
  /** Finders return undefined for a record that is missing or expired. */
  readonly find: (model: string, id: string) => Promise<FoundOidcRecord | undefined>
  readonly findByUserCode: (model: string, userCode: string) => Promise<FoundOidcRecord | undefined>
  readonly findByUid: (model: string, uid: string) => Promise<FoundOidcRecord | undefined>
  /** Marks a record used, and returns when. Undefined when it was used or is missing: then another request won the race. */
  readonly consume: (model: string, id: string) => Promise<Date | undefined>
  /**
   * Takes over the use of a record that was used at `since` or later: nobody else has it then. Returns the mark, a millisecond
   * after the one before, so that all of them together move the first use by nothing that counts. Undefined for any other record.
   */
  readonly consumeAgain: (model: string, id: string, since: Date) => Promise<Date | undefined>
  /** Whether the mark is still the one that this request set. */
  readonly isConsumedAt: (model: string, id: string, mark: Date) => Promise<boolean>
  /** Marks the other unused records of the model and grant as used long ago. Returns whether none was used after this one. */
  readonly retireOthers: (model: string, id: string, grantId: string) => Promise<boolean>
  readonly destroy: (model: string, id: string) => Promise<void>
  readonly revokeByGrantId: (grantId: string) => Promise<void>
  /**
   * Deletes every record of a person: sessions, grants, codes and all refresh tokens. Returns how many sign-ins of programs
   * (grants) ended.
   */
  readonly endAllOf: (account: string) => Promise<number>
  /** How many sign-ins of programs a person has that have not expired. */
  readonly countOf: (account: string) => Promise<number>
  /** People with sign-ins of programs that have not expired, at most 1000, sorted. */
  readonly signIns: () => Promise<readonly { readonly account: string; readonly count: number }[]>
  /** Returns how many records were deleted. */
  readonly deleteExpired: (now: Date) => Promise<number>
}

/** The provider's model of what a person allowed a program; one for each sign-in of a program. */
const grantModel = 'Grant'
const maxPeople = 1000
/** Not 0, which programs take for "never". */
const longAgo = new Date(1000)

type OidcRecordsDeps = { readonly prisma: Pick<PrismaClient, 'oidcRow'>; readonly sealer: Sealer; readonly clock: Clock }

/** OIDC records over Prisma. */
export function createOidcRecords(deps: OidcRecordsDeps): OidcRecords {
  const { prisma, sealer, clock } = deps
  const rows = prisma.oidcRow
  const countOf = (account: string): Promise<number> =>
    rows.count({ where: { account, model: grantModel, expiresAt: { gt: clock.now() } } })
  const found = (row: OidcRow | null): FoundOidcRecord | undefined => {
    if (row === null || (row.expiresAt !== null && row.expiresAt <= clock.now())) return undefined
    const text = sealer.open(row.sealedPayload, oidcSealContext(row.model, row.idHash)).reveal()
    const payload = JSON.parse(text) as OidcPayload
    return row.consumedAt === null ? { payload } : { payload, consumed: Math.floor(row.consumedAt.getTime() / 1000) }
  }
  return {
    async upsert({ model, id, payload, expiresAt, lookup = {} }) {
      const idHash = required(hash('id', id))
      const columns = {
        sealedPayload: sealer.seal(new SecretString(JSON.stringify(payload)), oidcSealContext(model, idHash)),
        grantHash: hash('grant', lookup.grantId) ?? null,
        userCodeHash: hash('user-code', lookup.userCode) ?? null,
        uidHash: hash('uid', lookup.uid) ?? null,
        account: lookup.account ?? null,
        expiresAt: expiresAt ?? null,
      }
      await rows.upsert({
        where: { model_idHash: { model, idHash } },
        create: { model, idHash, ...columns },
        update: columns,
      })
    },
    async find(model, id) {
      const idHash = hash('id', id)
      return idHash === undefined ? undefined : found(await rows.findUnique({ where: { model_idHash: { model, idHash } } }))
    },
    async findByUserCode(model, userCode) {
      const userCodeHash = hash('user-code', userCode)
      return userCodeHash === undefined ? undefined : found(await rows.findFirst({ where: { model, userCodeHash } }))
    },
    async findByUid(model, uid) {
      const uidHash = hash('uid', uid)
      return uidHash === undefined ? undefined : found(await rows.findFirst({ where: { model, uidHash } }))
    },
    async consume(model, id) {
      const idHash = hash('id', id)
      if (idHash === undefined) return undefined
      const consumedAt = clock.now()
      const { count } = await rows.updateMany({ where: { model, idHash, consumedAt: null }, data: { consumedAt } })
      return count === 1 ? consumedAt : undefined
    },
    async consumeAgain(model, id, since) {
      const idHash = hash('id', id)
      if (idHash === undefined) return undefined
      for (;;) {
        const row = await rows.findUnique({ where: { model_idHash: { model, idHash } } })
        const before = row?.consumedAt ?? undefined
        if (before === undefined || before < since || (row?.expiresAt && row.expiresAt <= clock.now())) return undefined
        const consumedAt = new Date(before.getTime() + 1)
        const { count } = await rows.updateMany({ where: { model, idHash, consumedAt: before }, data: { consumedAt } })
        if (count === 1) return consumedAt
      }
    },
    async isConsumedAt(model, id, mark) {
      const idHash = hash('id', id)
      return idHash !== undefined && (await rows.count({ where: { model, idHash, consumedAt: mark } })) === 1
    },
    async retireOthers(model, id, grantId) {
      const [idHash, grantHash] = [hash('id', id), hash('grant', grantId)]
      if (idHash === undefined || grantHash === undefined) return false
      const others = { model, grantHash, NOT: { idHash } }
      await rows.updateMany({ where: { ...others, consumedAt: null }, data: { consumedAt: longAgo } })
      const row = await rows.findUnique({ where: { model_idHash: { model, idHash } } })
      return row?.consumedAt != null && (await rows.count({ where: { ...others, consumedAt: { gte: row.consumedAt } } })) === 0
    },
    async destroy(model, id) {
      const idHash = hash('id', id)
      if (idHash !== undefined) await rows.deleteMany({ where: { model, idHash } })
    },
    async revokeByGrantId(grantId) {
      const grantHash = hash('grant', grantId)
      if (grantHash !== undefined) await rows.deleteMany({ where: { grantHash } })
    },
    countOf,
    async endAllOf(account) {
      const grants = await countOf(account)
      await rows.deleteMany({ where: { account } })
      return grants
    },
    async signIns() {
      const groups = await rows.groupBy({
        by: ['account'],
        where: { account: { not: null }, model: grantModel, expiresAt: { gt: clock.now() } },
        _count: { _all: true },
        orderBy: { account: 'asc' },
        take: maxPeople,
      })
      return groups.flatMap(({ account, _count }) => (account === null ? [] : [{ account, count: _count._all }]))
    },
    async deleteExpired(now) {
      return (await rows.deleteMany({ where: { expiresAt: { lte: now } } })).count
    },
  }
}

function hash(purpose: string, handle: string | undefined): string | undefined {
  return handle === undefined ? undefined : handleHash(`oidc-${purpose}`, handle)
}

function required(idHash: string | undefined): string {
  if (idHash === undefined) throw new AppError('invalid_request', 'an OIDC record needs an id of 1 to 4096 characters')
  return idHash
}

/** What binds the seal of a payload to its row. */
export function oidcSealContext(model: string, idHash: string): string {
  return `oidc:${model}:${idHash}`
}
