// What the lists of kinds promise to the rest of the product.
import { expect, test } from 'vitest'
import { grantSubjectKinds } from './github/repository-grant.ts'
import { followerKinds } from './registry.ts'

test('every kind that follows a repository can be the subject of a grant: otherwise it could not have its own', () => {
  expect(grantSubjectKinds).toEqual(expect.arrayContaining(followerKinds.map(({ kind }) => kind)))
})
