// What the lists of kinds promise to the rest of the product.
import { expect, test } from 'vitest'
import { grantSubjectKinds } from './github/repository-grant.ts'
import { labels, ownerLabel } from './names.ts'
import { delegatingKinds, followerKinds, isOwned, kinds, ownerKinds, requesterKinds, unownedSelector } from './registry.ts'

test('every kind that follows a repository can be the subject of a grant: otherwise it could not have its own', () => {
  expect(grantSubjectKinds).toEqual(expect.arrayContaining(followerKinds.map(({ kind }) => kind)))
})

test('no two kinds have the same label on what they own', () => {
  expect(new Set(kinds.map(({ kind }) => ownerLabel(kind))).size).toBe(kinds.length)
})

test('what an AppPipeline owns is found by the label that previews have had all along', () => {
  expect(ownerLabel('AppPipeline')).toBe(labels.appPipeline)
  expect(labels.appPipeline).toBe('sekisho.dev/app-pipeline')
  expect(unownedSelector.split(',')).toContain('!sekisho.dev/app-pipeline')
  const object = (own: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x', labels: own },
  })
  expect(isOwned(object({ 'sekisho.dev/app-pipeline': 'shop' }))).toBe(true)
  expect(isOwned(object({ 'sekisho.dev/tenant': 'acme' }))).toBe(false)
})

test('the controllers write in somebody’s name only for kinds whose requester is enforced', () => {
  const enforced = requesterKinds.map(({ kind }) => kind)
  expect(enforced).toEqual(expect.arrayContaining([...delegatingKinds]))
  expect(delegatingKinds).toEqual(expect.arrayContaining([...followerKinds]))
  for (const owner of ownerKinds) expect(delegatingKinds.includes(owner)).toBe(enforced.includes(owner))
})
