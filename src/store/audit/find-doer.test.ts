import { describe, expect, test } from 'vitest'
import type { AuditEntry } from './audit-chain.ts'
import type { AuditQuery } from './audit-rows.ts'
import { changeTo, deletionOf, findDoer } from './find-doer.ts'

const deleted = '2026-01-02T03:04:05Z'

function asked(actor: string, secondsBefore: number, details: AuditEntry['details'] = {}): AuditEntry {
  const at = new Date(Date.parse(deleted) - secondsBefore * 1000).toISOString()
  const about = { object: 'RepositoryGrant/acme/read-shop', outcome: 'allowed', reason: '' } as const
  const chain = { sequence: 1, previousHash: '', hash: '' }
  return { ...about, ...chain, action: 'access.changing', actor, at, details: { operation: 'DELETE', uid: 'g-1', ...details } }
}
const logOf = (entries: readonly AuditEntry[]) => ({
  list: async ({ action }: AuditQuery) => entries.filter(one => one.action === action),
})
const doerOf = (...entries: readonly AuditEntry[]) => findDoer(logOf(entries), deletionOf('g-1', deleted))

describe('who deleted an object', () => {
  test('is the one user who asked for it then, with the login', async () => {
    const entries = [asked('github|github.com|7', 1, { login: 'dave' }), asked('github|github.com|7', 30)]
    expect(await doerOf(...entries)).toEqual({
      actor: 'github|github.com|7',
      details: { doer: 'github|github.com|7', doerLogin: 'dave' },
    })
  })

  test('is whoever asked for it before the clock of the API server says, or a little after', async () => {
    expect((await doerOf(asked('early', 89))).actor).toBe('early')
    expect((await doerOf(asked('late', -29))).actor).toBe('late')
  })

  test.each([
    ['nobody asked', []],
    ['somebody was refused long before', [asked('dave', 91)]],
    ['somebody asked long after', [asked('dave', -31)]],
    ['somebody changed it', [asked('dave', 1, { operation: 'UPDATE' })]],
    ['a record of another action names somebody', [{ ...asked('dave', 1), action: 'grant.decided' } as AuditEntry]],
  ])('is not known when %s', async (_when, entries) => {
    const { actor, details } = await doerOf(...entries)
    expect([actor, Object.keys(details)]).toEqual([undefined, ['doerUnknown']])
  })

  test('is the owner who ended the tenant on its page, and nobody who was refused that', async () => {
    const ended = { ...asked('github|github.com|9', 1), action: 'tenant.offboarded' } as AuditEntry
    expect((await doerOf(ended)).actor).toBe('github|github.com|9')
    expect((await doerOf({ ...ended, outcome: 'denied' })).actor).toBeUndefined()
  })

  test('is one of all who asked for it then: nobody is named alone', async () => {
    expect(await doerOf(asked('dave', 1), asked('olivia', 5))).toEqual({
      actor: undefined,
      details: { doers: ['dave', 'olivia'] },
    })
  })

  test('is the person in whose name the platform replaced an Installation', async () => {
    const replaced = { ...asked('github|github.com|9', 500), action: 'installation.replaced' } as AuditEntry
    expect((await doerOf(replaced)).actor).toBe('github|github.com|9')
  })
})

test('who changed the roles of a tenant on its page is the owner of that record', async () => {
  const details = { generation: 2, specDigest: 'x' }
  const changed = { ...asked('github|github.com|9', 1, details), action: 'tenant.roles-changed' } as AuditEntry
  const find = (entry: AuditEntry) => findDoer(logOf([entry]), changeTo('g-1', { generation: 2, specDigest: 'x' }))
  expect((await find(changed)).actor).toBe('github|github.com|9')
  expect((await find({ ...changed, outcome: 'failed' })).actor).toBeUndefined()
  expect((await find({ ...changed, details: { ...changed.details, specDigest: 'y' } })).actor).toBeUndefined()
})

test('who changed an object is whoever asked for this generation with this content', async () => {
  const wanted = { operation: 'UPDATE', generation: 2, specDigest: 'x' }
  const find = (...entries: readonly AuditEntry[]) =>
    findDoer(logOf(entries), changeTo('g-1', { generation: 2, specDigest: 'x' }))
  expect((await find(asked('dave', 1, wanted), asked('olivia', 1, { ...wanted, specDigest: 'y' }))).actor).toBe('dave')
  expect((await find(asked('olivia', 1, { ...wanted, generation: 3 }))).actor).toBeUndefined()
})
