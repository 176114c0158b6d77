// Connects the OIDC provider's models to a store of records. Owns the one rule the provider leaves to its storage: a code or refresh
// token is used once also when two requests race, and the loser ends the whole family (RFC 9700 §4.14.2).
import { type Adapter, type AdapterFactory, type AdapterPayload, errors, Provider } from 'oidc-provider'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { createPollingPace } from './polling-pace.ts'

export type OidcRecordPayload = { readonly [key: string]: JsonValue | undefined }
type Found = { readonly payload: OidcRecordPayload; readonly consumed?: number }

/** What the adapter needs of a store. `consume` says whether this call was the one that used the record. */
export type OidcRecordStore = {
  readonly upsert: (
    model: string,
    id: string,
    payload: OidcRecordPayload,
    expiresAt: Date | undefined,
    lookup?: { readonly grantId?: string | undefined; readonly userCode?: string | undefined; readonly uid?: string | undefined },
  ) => Promise<void>
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
  return { ...(payload as AdapterPayload), ...(consumed === undefined ? {} : { consumed }) }
}

/** Ends every token of a grant and the grant itself, so that nothing of the family can be refreshed. */
export async function endGrant(store: OidcRecordStore, grantId: string): Promise<void> {
  await store.destroy('Grant', grantId)
  await store.revokeByGrantId(grantId)
}

export function createRecordAdapter(store: OidcRecordStore, now: () => Date): AdapterFactory {
  const pace = createPollingPace(now)
  return (model): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? undefined : new Date(now().getTime() + expiresIn * 1000)
      const { grantId, userCode, uid } = payload
      // Through JSON, because the provider leaves undefined members and its own classes in a payload.
      const plain: OidcRecordPayload = JSON.parse(JSON.stringify(payload))
      await store.upsert(model, id, plain, expiresAt, { grantId, userCode, uid })
    },
    async find(id) {
      const found = payloadOf(await store.find(model, id))
      // Only a device code that is being polled counts: the pages look the same record up while the person decides, and a used one is reuse.
      const isOpen = model === 'DeviceCode' && found !== undefined && found.consumed === undefined
      if (isOpen && Provider.ctx?.oidc.route === 'token' && !pace.mayAsk(id)) throw new errors.SlowDown()
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
