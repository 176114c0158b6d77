// Patterns of refs as sets of names: what one contains and what two have in common, against names for any pattern.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPush, refSet, refsAsked } from './asked-refs.ts'
import { starMatcher } from './repository-pattern.ts'

describe('refs of a rule', () => {
  test.each([
    ['refs/heads/*', 'refs/heads/main', true, true],
    ['refs/heads/*', 'refs/heads/release/*', true, true],
    ['refs/heads/*', 'refs/*', false, true],
    ['refs/heads/main', 'refs/heads/main', true, true],
    ['refs/heads/main', 'refs/heads/Main', false, false],
    ['refs/heads/main', 'refs/heads/m*', false, true],
    ['refs/heads/main', 'refs/heads/main2', false, false],
    ['refs/heads/*/x', 'refs/heads/a*', false, true],
    ['refs/heads/*a', 'refs/heads/*b', false, false],
    ['refs/heads/a*', 'refs/heads/b*', false, false],
    ['refs/heads/*', 'refs/tags/*', false, false],
    ['refs/heads/a**b', 'refs/heads/a*b', true, true],
    ['refs/heads/mаin', 'refs/heads/main', false, false],
  ])('%s and %s: contains %s, meets %s', (rule, asked, contains, meets) => {
    expect([refSet([rule]).contains(asked), refSet([rule]).meets(asked)]).toEqual([contains, meets])
  })

  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })

  test('contain a pattern only when each name that it means is one of theirs, and meet it when one is', () => {
    fc.assert(
      fc.property(pattern, pattern, name, (rule, asked, one) => {
        const { contains, meets } = refSet([rule])
        if (contains(asked) && starMatcher(asked)(one)) expect(starMatcher(rule)(one)).toBe(true)
        if (starMatcher(rule)(one) && starMatcher(asked)(one)) expect(meets(asked)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('meet a pattern only when there is such a name, and contain it unless there is one of its own', () => {
    // All names of at most six letters, one of which no pattern has: two patterns of three characters need no longer ones.
    const longer = (some: readonly string[]): string[] => some.flatMap(one => ['a', 'b', 'c'].map(next => one + next))
    const names: string[] = []
    for (let all = ['']; names.length < 1093; all = longer(all)) names.push(...all)
    const short = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 3 })
    fc.assert(
      fc.property(short, short, (rule, asked) => {
        const [ofRule, ofAsked] = [starMatcher(rule), starMatcher(asked)]
        expect(refSet([rule]).meets(asked)).toBe(names.some(one => ofRule(one) && ofAsked(one)))
        expect(refSet([rule]).contains(asked)).toBe(names.every(one => !ofAsked(one) || ofRule(one)))
      }),
      { numRuns: 300 },
    )
  })

  test('of 200 characters and stars cost next to nothing', () => {
    const [rule, asked] = [`refs/heads/${'*a'.repeat(90)}`, `refs/heads/${'a*'.repeat(90)}b`]
    expect(refSet(Array.from({ length: 20 }, () => rule)).contains(asked)).toBe(false)
    expect(refSet([rule]).meets(asked)).toBe(false)
  })
})

test('a grant asks for what it names where the proxy keeps it to that, and for everything where it gives tokens', () => {
  const git = { refs: ['refs/tags/v*'] }
  expect(refsAsked({ delivery: 'GitProxy', git })).toEqual(git.refs)
  expect(refsAsked({ delivery: 'GitProxy' })).toEqual(['refs/heads/*', 'refs/tags/*'])
  expect(refsAsked({ delivery: 'TokenEndpoint', git })).toEqual(['refs/*'])
  expect(refsAsked({ delivery: 'Secret' })).toEqual(['refs/*'])
  expect([isPush('contents', 'write'), isPush('contents', 'read'), isPush('statuses', 'write')]).toEqual([true, false, false])
})
