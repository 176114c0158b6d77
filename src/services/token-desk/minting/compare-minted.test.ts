// The comparison of a minted token with its intent, by table and against a reference written here.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differenceOf } from './compare-minted.ts'

const now = new Date('2026-01-01T00:00:00Z')
const intent = { repositoryIds: [1, 2], permissions: { contents: 'read', statuses: 'write' } }
const minted = {
  repositoryIds: [1, 2],
  repositories: [{ id: 3, fullName: 'acme/secret' }],
  permissions: { contents: 'read', statuses: 'write', metadata: 'read' } as Record<string, string>,
  expiresAt: new Date('2026-01-01T01:00:00Z'),
}

describe('comparing the minted token with the intent', () => {
  test('accepts exactly the intent, with the metadata that GitHub adds', () => {
    expect(differenceOf(intent, minted, now)).toBeUndefined()
  })

  test.each([
    ['another repository', { repositoryIds: [1, 2, 3] }, 'wider'],
    ['one repository exchanged', { repositoryIds: [1, 3] }, 'wider'],
    ['a higher level', { permissions: { ...minted.permissions, contents: 'write' } }, 'wider'],
    ['another permission', { permissions: { ...minted.permissions, issues: 'read' } }, 'wider'],
    ['metadata above read', { permissions: { ...minted.permissions, metadata: 'write' } }, 'wider'],
    ['an unknown level', { permissions: { ...minted.permissions, contents: 'maintain' } }, 'wider'],
    ['a missing repository', { repositoryIds: [1] }, 'narrower'],
    ['a lower level', { permissions: { ...minted.permissions, statuses: 'read' } }, 'narrower'],
    ['a missing permission', { permissions: { contents: 'read' } }, 'narrower'],
    ['an end in the past', { expiresAt: now }, 'unusable'],
    ['seconds of life', { expiresAt: new Date('2026-01-01T00:00:20Z') }, 'unusable'],
    ['less than ten minutes of life', { expiresAt: new Date('2026-01-01T00:09:59Z') }, 'unusable'],
    ['more than an hour of life', { expiresAt: new Date('2026-01-01T01:30:00Z') }, 'unusable'],
    ['an end in a year', { expiresAt: new Date('2027-01-01T00:00:00Z') }, 'unusable'],
    ['wider and narrower at once', { repositoryIds: [3] }, 'wider'],
  ])('refuses %s', (_case, change, kind) => {
    expect(differenceOf(intent, { ...minted, ...change }, now)?.kind).toBe(kind)
  })

  test('names the repository that was not requested, where GitHub does', () => {
    expect(differenceOf(intent, { ...minted, repositoryIds: [1, 3] }, now)?.message).toContain(
      'reaches acme/secret (id 3), which',
    )
    expect(differenceOf(intent, { ...minted, repositoryIds: [1, 4] }, now)?.message).toContain('reaches repository 4, which')
  })

  test('never accepts more than was requested, whatever GitHub answers', () => {
    const permissionsOf = (...levels: string[]) =>
      fc.dictionary(fc.constantFrom('contents', 'issues', 'metadata', 'statuses'), fc.constantFrom(...levels))
    const known = permissionsOf('read', 'write', 'admin')
    const answered = permissionsOf('read', 'write', 'admin', 'other')
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 5 }))
    const rank = (name: string | undefined): number => ['read', 'write', 'admin', 'other'].indexOf(name ?? '')
    fc.assert(
      fc.property(ids, known, ids, answered, (requested, wanted, got, given) => {
        const difference = differenceOf(
          { repositoryIds: requested, permissions: wanted },
          { ...minted, repositoryIds: got, permissions: given },
          now,
        )
        const more =
          got.some(id => !requested.includes(id)) ||
          Object.entries(given).some(
            ([name, has]) => rank(has) > Math.max(rank(wanted[name]), name === 'metadata' ? 0 : -1) || has === 'other',
          )
        expect(difference?.kind === 'wider').toBe(more)
      }),
    )
  })
})
