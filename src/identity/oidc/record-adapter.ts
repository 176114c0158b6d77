// Connects the OIDC provider's models to a store of records. Owns the one rule that the provider leaves to its storage: a code
// or refresh token is used once even when two requests race, and the loser revokes the whole family (RFC 9700 §4.14.2).
import { type Adapter, type AdapterFactory, type AdapterPayload, errors, Provider } from 'oidc-provider'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import type { PollingPace } from './polling-pace.ts'

/** The JSON form of what the provider stores. */
export type OidcRecordPayload = { readonly [key: string]: JsonValue | undefined }
type Found = { readonly payload: OidcRecordPayload; readonly consumed?: number }

/** The store that the adapter needs. `consume` resolves to whether this call was the one that used the record. */
export type OidcRecordStore = {
  readonly upsert: (record: {
    readonly model: string
    readonly id: string
    readonly payload: OidcRecordPayload
    readonly expiresAt: Date | undefined
    readonly lookup: { readonly [handle in 'grantId' | 'userCode' | 'uid' | 'account']?: string | undefined }
  }) => Promise<void>
  readonly find: (model: string, id: string) => Promise<Found | undefined>
  readonly findByUserCode: (model: string, userCode: string) => Promise<Found | undefined>
  readonly findByUid: (model: string, uid: string) => Promise<Found | undefined>
  readonly consume: (model: string, id: string) => Promise<boolean>
  readonly destroy: (model: string, id: string) => Promise<void>
  readonly revokeByGrantId: (grantId: string) => Promise<void>
}

function payloadOf(found: Found | undefined): AdapterPayload | undefined {
  if (found === undefined) return undefined
  const { consumed, payload } = found
  return { ...(payload as AdapterPayload), ...defined({ consumed }) }
}

/** Revokes every token of a grant and the grant itself, so that no token of the family can be refreshed. */
async function endGrant(store: OidcRecordStore, grantId: string): Promise<void> {
  await store.destroy('Grant', grantId)
  await store.revokeByGrantId(grantId)
}

/** The adapter factory for the provider. Its `consume` throws `invalid_grant` for a second use. */
export function createRecordAdapter(store: OidcRecordStore, pace: PollingPace, now: () => Date): AdapterFactory {
  return (model): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? undefined : new Date(now().getTime() + expiresIn * 1000)
      const { grantId, userCode, uid, accountId: account } = payload
      // Through JSON, because a payload of the provider contains undefined members and instances of its classes.
      const plain: OidcRecordPayload = JSON.parse(JSON.stringify(payload))
      await store.upsert({ model, id, payload: plain, expiresAt, lookup: { grantId, userCode, uid, account } })
    },
    async find(id) {
      const found = payloadOf(await store.find(model, id))
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
      if (await store.consume(model, id)) return
      const grantId = found?.payload['grantId']
      if (typeof grantId === 'string') await endGrant(store, grantId)
      throw new errors.InvalidGrant('already used')
    },
    destroy: id => store.destroy(model, id),
    revokeByGrantId: grantId => store.revokeByGrantId(grantId),
  })
}
