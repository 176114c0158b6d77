// Whether a new owner of a binding has to look first: when it would reach more than before.
import { expect, test } from 'vitest'
import type { Ceiling } from '../onboarding/ceiling.ts'
import { isWithinCeiling } from './take-over.ts'

const selected = (repositoryIds: number[], permissions: Ceiling['permissions'] = { contents: 'read' }): Ceiling => ({
  ...{ repositories: 'Selected', repositoryIds, permissions },
})
const all = (permissions: Ceiling['permissions'] = { contents: 'read' }): Ceiling => ({ repositories: 'All', permissions })

test.each<[string, Ceiling, Ceiling, boolean]>([
  ['the same', selected([1, 2]), selected([1, 2]), true],
  ['fewer repositories', selected([1]), selected([1, 2]), true],
  ['another repository', selected([1, 3]), selected([1, 2]), false],
  ['all instead of selected ones', all(), selected([1]), false],
  ['selected ones instead of all', selected([9]), all(), true],
  ['a higher level', all({ contents: 'write' }), all(), false],
  ['another permission', all({ contents: 'read', issues: 'read' }), all(), false],
  ['fewer permissions', all({}), all(), true],
])('%s', (_what, next, before, expected) => {
  expect(isWithinCeiling(next, before)).toBe(expected)
})
