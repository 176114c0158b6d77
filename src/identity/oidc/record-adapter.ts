// Connects the OIDC provider's models to a store of records. Owns the one rule that the provider leaves to its storage: a code
// or refresh token is used once even when two requests race, and the loser revokes the whole family (RFC 9700 §4.14.2); but the
// last refresh token may be sent again for a moment, when its answer was lost (refresh-grace.ts).
import { type Adapter, type AdapterFactory, type AdapterPayload, errors, Provider } from 'oidc-provider'
import { defined } from '../../lib/json/defined.ts'
import type { FoundRecord, OidcRecordPayload } from './oidc-record.ts'
import type { PollingPace } from './polling-pace.ts'
import type { RefreshGrace, RefreshGraceStore } from './refresh-grace.ts'

/** The store that the adapter needs. `consume` resolves to when this call, and no other, used the record. */
export type OidcRecordStore = RefreshGraceStore & {
  readonly upsert: (record: {
    readonly model: string
    readonly id: string
    readonly payload: OidcRecordPayload
    readonly expiresAt: Date | undefined
    readonly lookup: { readonly [handle in 'grantId' | 'userCode' | 'uid' | 'account']?: string | undefined }
  }) => Promise<void>
  readonly find: (model: string, id: string) => Promise<FoundRecord | undefined>
  readonly findByUserCode: (model: string, userCode: string) => Promise<FoundRecord | undefined>
  readonly findByUid: (model: string, uid: string) => Promise<FoundRecord | undefined>
  readonly consume: (model: string, id: string) => Promise<Date | undefined>
  readonly revokeByGrantId: (grantId: string) => Promise<void>
}

function payloadOf(found: FoundRecord | undefined): AdapterPayload | undefined {
  if (found === undefined) return undefined
  const { consumed, payload } = found
  return { ...(payload as AdapterPayload), ...defined({ consumed }) }
}

/** Revokes every token of a grant and the grant itself, so that no token of the family can be refreshed. */
async function endGrant(store: OidcRecordStore, grantId: string): Promise<void> {
  await store.destroy('Grant', grantId)
  await store.revokeByGrantId(grantId)
}

/** What the adapter is made from. */
export type RecordAdapterDeps = {
  readonly store: OidcRecordStore
  readonly pace: PollingPace
  readonly grace: RefreshGrace
  readonly now: () => Date
}

const refreshToken = 'RefreshToken'

/** The adapter factory for the provider. Its `consume` throws `invalid_grant` for a second use. */
export function createRecordAdapter({ store, pace, grace, now }: RecordAdapterDeps): AdapterFactory {
  return (model): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? undefined : new Date(now().getTime() + expiresIn * 1000)
      const { grantId, userCode, uid, accountId: account } = payload
      // Through JSON, because a payload of the provider contains undefined members and instances of its classes.
      const plain: OidcRecordPayload = JSON.parse(JSON.stringify(payload))
      await store.upsert({ model, id, payload: plain, expiresAt, lookup: { grantId, userCode, uid, account } })
      if (model === refreshToken) await grace.saved(id)
    },
    async find(id) {
      const kept = await store.find(model, id)
      const found = payloadOf(model === refreshToken ? await grace.seen(kept) : kept)
      // Only polling with an open device code counts: the pages read the same record while the person decides, and a used code
      // is reuse.
      const isOpen = model === 'DeviceCode' && found !== undefined && found.consumed === undefined
      if (isOpen && Provider.ctx?.oidc.route === 'token' && !(await pace.mayPoll(id))) throw new errors.SlowDown()
      return found
    },
    findByUserCode: async userCode => payloadOf(await store.findByUserCode(model, userCode)),
    findByUid: async uid => payloadOf(await store.findByUid(model, uid)),
    async consume(id) {
      const found = await store.find(model, id)
      const used = await store.consume(model, id)
      const grantId = found?.payload['grantId']
      if (used !== undefined) return model === refreshToken ? grace.used(id, used) : undefined
      if (model === refreshToken && found !== undefined && (await grace.usedAgain(id, found))) return
      if (typeof grantId === 'string') await endGrant(store, grantId)
      throw new errors.InvalidGrant('already used')
    },
    destroy: id => store.destroy(model, id),
    revokeByGrantId: grantId => store.revokeByGrantId(grantId),
  })
}
