// Patterns of repositories: what `*` means, what has no meaning, and against a regular expression for any pattern.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { repositoryPattern } from '../../api/github/grant-policy.ts'
import { repositoryMatcher } from './repository-pattern.ts'

describe('a pattern of repositories', () => {
  test.each([
    ['acme/shop', 'acme/shop', true],
    ['Acme/SHOP', 'aCME/shop', true],
    ['acme/*', 'acme/shop', true],
    ['acme/*', 'acme2/shop', false],
    ['acme/*', 'x-acme/shop', false],
    ['*/shop', 'acme/shop', true],
    ['acme/s*p', 'acme/sp', true],
    ['acme/a*a', 'acme/a', false],
    ['acme/*-*-x', 'acme/a-x', false],
    ['acme/*-*-x', 'acme/a-b-x', true],
    ['acme/.*', 'acme/shop', false],
    ['acme/a|acme/shop', 'acme/shop', false],
    ['acme*', 'acme/shop', false],
    ['*', 'acme/shop', false],
    ['a*p', 'acme/shop', false],
    ['acme/*', 'acme/shop/x', false],
    ['acme/*', 'acme', false],
  ])('%s and %s: %s', (pattern, name, matches) => {
    expect(repositoryMatcher(pattern)(name)).toBe(matches)
  })

  test('matches as a regular expression of it would, for any pattern and name', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'B', '-', '*'), minLength: 1, maxLength: 8 })
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(part, part, name, name, (owner, repository, ownerName, repositoryName) => {
        const pattern = `${owner}/${repository}`
        const plain = new RegExp(`^${pattern.replaceAll('*', '[^/]*')}$`, 'i')
        const given = `${ownerName}/${repositoryName}`
        expect(repositoryMatcher(pattern)(given)).toBe(plain.test(given))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ['a|b/c', false],
    ['аcme/shop', false],
    ['acme/shоp', false],
    ['acme/sh?p', false],
    ['acme/[a-z]', false],
    ['acme/shop ', false],
    ['acme', false],
    ['acme/a/b', false],
    ['!acme/shop', false],
    ['acme/shop\n', false],
    ['acme/*', true],
    ['*/*', true],
    ['acme/my.repo_1-x', true],
  ])('of the schema: %j is one: %s', (pattern, valid) => {
    expect(new RegExp(repositoryPattern, 'u').test(pattern)).toBe(valid)
  })
})
