// The rules of reuse on a store in memory: a code is used once, and a refresh token once more while its answer may be lost.
import { beforeEach, describe, expect, test } from 'vitest'
import type { OidcRecordPayload } from './oidc-record.ts'
import { createRecordAdapter, type OidcRecordStore } from './record-adapter.ts'
import { createRefreshGrace, graceSeconds } from './refresh-grace.ts'

let now = Date.parse('2026-01-01T00:00:00Z')
let heard: readonly (readonly [string, boolean])[] = []
/** Stands for the request that is handled. */
let request: object | undefined

function memoryStore() {
  const rows = new Map<string, { payload: OidcRecordPayload; mark?: number; expiresAt: Date | undefined }>()
  const ended: string[] = []
  const rowOf = (model: string, id: string) => rows.get(`${model}:${id}`)
  const store: OidcRecordStore = {
    upsert: async ({ model, id, payload, expiresAt }) => void rows.set(`${model}:${id}`, { payload, expiresAt }),
    async find(model, id) {
      const row = rowOf(model, id)
      if (row === undefined) return undefined
      return row.mark === undefined ? { payload: row.payload } : { payload: row.payload, consumed: Math.floor(row.mark / 1000) }
    },
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
    async consume(model, id) {
      const row = rowOf(model, id)
      if (row === undefined || row.mark !== undefined) return undefined
      row.mark = now
      return new Date(now)
    },
    async consumeAgain(model, id, since) {
      const row = rowOf(model, id)
      if (row?.mark === undefined || row.mark < since.getTime()) return undefined
      row.mark += 1
      return new Date(row.mark)
    },
    isConsumedAt: async (model, id, mark) => rowOf(model, id)?.mark === mark.getTime(),
    async retireOthers(model, id) {
      const own = rowOf(model, id)
      const others = [...rows].filter(([key, row]) => key.startsWith(`${model}:`) && row !== own).map(([, row]) => row)
      for (const other of others) other.mark ??= 1000
      return own?.mark !== undefined && others.every(({ mark = 0 }) => mark < (own.mark ?? 0))
    },
    destroy: async (model, id) => void rows.delete(`${model}:${id}`),
    revokeByGrantId: async grantId => void ended.push(grantId),
  }
  return { store, rows, ended }
}

function adapters() {
  const { store, rows, ended } = memoryStore()
  const replayed = async (subject: string, isAccepted: boolean): Promise<void> => {
    heard = [...heard, [subject, isAccepted]]
  }
  const grace = createRefreshGrace({ store, now: () => new Date(now), replayed, request: () => request })
  const pace = { mayPoll: async () => true }
  const factory = createRecordAdapter({ store, pace, grace, now: () => new Date(now) })
  const tokens = factory('RefreshToken')
  const issue = (id: string) => tokens.upsert(id, { jti: id, kind: 'RefreshToken', exp: 1, grantId: 'g1', accountId: 'dave' }, 60)
  /** As the provider: looks, ends the family of a used token, else uses it and saves its successor. */
  async function refresh(id: string, successor: string): Promise<void> {
    request = {}
    const found = await tokens.find(id)
    if (found === undefined) throw new Error('not found')
    if (found.consumed !== undefined) {
      await store.revokeByGrantId('g1')
      throw new Error('used')
    }
    await tokens.consume(id)
    await issue(successor)
  }
  return { factory, tokens, issue, refresh, rows, ended }
}

beforeEach(() => {
  heard = []
  request = undefined
})

test('expiry is counted from our clock, and a used record has a consumption time', async () => {
  const { factory, rows } = adapters()
  const codes = factory('AuthorizationCode')
  await codes.upsert('c1', { jti: 'c1', kind: 'AuthorizationCode', exp: 1, nonce: undefined }, 60)
  expect(rows.get('AuthorizationCode:c1')).toMatchObject({ expiresAt: new Date(now + 60_000) })
  await codes.consume('c1')
  expect(await codes.find('c1')).toMatchObject({ jti: 'c1', consumed: Math.floor(now / 1000) })
})

test('of two concurrent uses of a code one wins, and the grant ends', async () => {
  const { factory, rows, ended } = adapters()
  const [codes, grants] = [factory('AuthorizationCode'), factory('Grant')]
  await grants.upsert('g1', { jti: 'g1', kind: 'Grant', exp: 1 }, 60)
  await codes.upsert('c1', { jti: 'c1', kind: 'AuthorizationCode', exp: 1, grantId: 'g1' }, 60)
  const outcomes = await Promise.allSettled([codes.consume('c1'), codes.consume('c1')])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(ended).toEqual(['g1'])
  expect(rows.has('Grant:g1')).toBe(false)
})

describe('a refresh token that is sent again', () => {
  test('gets another successor for a moment, and the one before ends the family', async () => {
    const { issue, refresh, ended } = adapters()
    await issue('t1')
    await refresh('t1', 'lost')
    now += 20_000
    await refresh('t1', 't2')
    expect(heard).toEqual([['dave', true]])
    await refresh('t2', 't3')
    expect(ended).toEqual([])
    await expect(refresh('lost', 'x')).rejects.toThrow('used')
    expect(ended).toEqual(['g1'])
    expect(heard.at(-1)).toEqual(['dave', false])
  })

  test('gets one also when the process was killed between the use and the new token', async () => {
    const { tokens, issue, refresh, ended } = adapters()
    await issue('t1')
    await tokens.consume('t1')
    await refresh('t1', 't2')
    await refresh('t2', 't3')
    expect(ended).toEqual([])
  })

  test('ends the family after that moment, which begins with the first use, however often it is sent', async () => {
    const { issue, refresh, ended } = adapters()
    await issue('t1')
    await refresh('t1', 'a')
    for (const successor of ['b', 'c', 'd']) {
      now += (graceSeconds * 1000) / 3
      await refresh('t1', successor)
    }
    now += 2000
    await expect(refresh('t1', 'e')).rejects.toThrow('used')
    expect(ended).toEqual(['g1'])
  })

  test('ends the family at once when its successor was used', async () => {
    const { issue, refresh, ended } = adapters()
    await issue('t1')
    await refresh('t1', 't2')
    now += 1000
    await refresh('t2', 't3')
    await expect(refresh('t1', 'x')).rejects.toMatchObject({ message: 'invalid_grant' })
    expect(ended).toEqual(['g1'])
    expect(heard).toEqual([['dave', false]])
  })

  test('by two requests at once leaves one good token: the other is taken back', async () => {
    const { tokens, issue, rows } = adapters()
    await issue('t1')
    const [first, second] = [{}, {}]
    request = first
    await tokens.consume('t1')
    request = second
    await tokens.consume('t1')
    request = first
    await expect(issue('a')).rejects.toMatchObject({ message: 'temporarily_unavailable' })
    request = second
    await issue('b')
    expect([rows.has('RefreshToken:a'), rows.get('RefreshToken:b')?.mark]).toEqual([false, undefined])
  })
})
