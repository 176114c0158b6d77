// Which files `spec.paths` means.
import { expect, test } from 'vitest'
import { machineFactor } from '../../../lib/waiting/limits.ts'
import { isMeant, matchesName } from './path-filter.ts'

test.each<[readonly string[], string, boolean]>([
  [['services/api'], 'services/api/src/main.ts', true],
  [['services/api/'], 'services/api', true],
  [['services/api'], 'services/api-gateway/main.ts', false],
  [['my apps/the api'], 'my apps/the api/main.ts', true],
  [['package.json'], 'web/package.json', false],
  [['**/package.json'], 'package.json', true],
  [['**/package.json'], 'a/b/package.json', true],
  [['libs/*/src'], 'libs/ui/src/a.ts', true],
  [['libs/*/src'], 'libs/ui/test/src/a.ts', false],
  [['*.md'], 'docs/a.md', false],
  [['a/**/z/*.ts'], 'a/b/z/c/z/x.ts', true],
  [['!docs'], 'docs/a.md', false],
  [['!docs'], 'src/a.ts', true],
  [['services/**', '!services/**/*.md'], 'services/api/README.md', false],
])('%j, file %s: %s', (paths, path, expected) => {
  expect(isMeant(paths, path)).toBe(expected)
})

test('hostile patterns and paths are compared in bounded time', () => {
  const begin = process.threadCpuUsage()
  const paths = [`${'*a'.repeat(120)}b`, `${'**/a/'.repeat(50)}b`]
  for (const path of ['a'.repeat(4000), 'a/'.repeat(2000)]) expect(isMeant(paths, path)).toBe(false)
  expect(process.threadCpuUsage(begin).user).toBeLessThan(1_000_000 * machineFactor())
})

test.each<[string, string, boolean]>([
  ['main', 'main', true],
  ['main', 'main/next', false],
  ['release/*', 'release/1.0', true],
  ['release/*', 'release/1.0/hotfix', false],
  ['release/**', 'release/1.0/hotfix', true],
  ['**', 'any/branch', true],
  ['*-stable', 'v1-stable', true],
  ['constructor', 'main', false],
])('the name %s means branch %s: %s', (pattern, branch, expected) => {
  expect(matchesName(pattern, branch)).toBe(expected)
})
