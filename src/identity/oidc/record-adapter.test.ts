import { expect, test } from 'vitest'
import { createRecordAdapter, type OidcRecordPayload, type OidcRecordStore } from './record-adapter.ts'

function memoryStore() {
  const rows = new Map<string, { payload: OidcRecordPayload; consumed?: number; expiresAt: Date | undefined }>()
  const ended: string[] = []
  const store: OidcRecordStore = {
    upsert: async ({ model, id, payload, expiresAt }) => void rows.set(`${model}:${id}`, { payload, expiresAt }),
    find: async (model, id) => rows.get(`${model}:${id}`),
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
    async consume(model, id) {
      const row = rows.get(`${model}:${id}`)
      if (row === undefined || row.consumed !== undefined) return false
      row.consumed = 1
      return true
    },
    destroy: async (model, id) => void rows.delete(`${model}:${id}`),
    revokeByGrantId: async grantId => void ended.push(grantId),
  }
  return { store, rows, ended }
}

const pace = { mayPoll: async () => true }
const now = () => new Date('2026-01-01T00:00:00Z')

test('of two concurrent uses of a refresh token one wins, and the grant ends', async () => {
  const { store, rows, ended } = memoryStore()
  const factory = createRecordAdapter(store, pace, now)
  const [tokens, grants] = [factory('RefreshToken'), factory('Grant')]
  await grants.upsert('g1', { jti: 'g1', kind: 'Grant', exp: 1 }, 60)
  await tokens.upsert('t1', { jti: 't1', kind: 'RefreshToken', exp: 1, grantId: 'g1' }, 60)
  const outcomes = await Promise.allSettled([tokens.consume('t1'), tokens.consume('t1')])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(ended).toEqual(['g1'])
  expect(rows.has('Grant:g1')).toBe(false)
})

test('expiry is counted from our clock, and a used record has a consumption time', async () => {
  const { store, rows } = memoryStore()
  const codes = createRecordAdapter(store, pace, now)('AuthorizationCode')
  await codes.upsert('c1', { jti: 'c1', kind: 'AuthorizationCode', exp: 1, nonce: undefined }, 60)
  expect(rows.get('AuthorizationCode:c1')).toMatchObject({ expiresAt: new Date('2026-01-01T00:01:00Z') })
  await codes.consume('c1')
  expect(await codes.find('c1')).toMatchObject({ jti: 'c1', consumed: 1 })
})
