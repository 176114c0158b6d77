// What CHANGED=1 plays: by imports, by the list of what is read, by folders, and everything when a path is unknown.
import { expect, test } from 'vitest'
import { affectedBy } from './affected.ts'

const uses: Readonly<Record<string, readonly string[]>> = {
  'src/a.test.ts': ['src/a.ts'],
  'src/b.test.ts': [],
  'test/integration/a.test.ts': ['src/a.ts', 'test/fixtures/x.ts'],
  'test/integration/guide-examples.test.ts': [],
  'test/sweep/sweep.test.ts': ['test/sweep/sweep.ts'],
  'test/e2e/a.test.ts': ['test/e2e/platform.ts'],
}
const imports = { reach: (file: string) => new Map([file, ...(uses[file] ?? [])].map(one => [one, 0])) }
const tests = {
  pure: ['src/a.test.ts'],
  unit: ['src/b.test.ts'],
  integration: ['test/integration/a.test.ts', 'test/integration/guide-examples.test.ts'],
  sweep: ['test/sweep/sweep.test.ts'],
  e2e: ['test/e2e/a.test.ts'],
}
const none = { pure: [], unit: [], integration: [], sweep: [], e2e: [] }
const after = (...changes: readonly string[]) => affectedBy(changes, tests, imports)

test('nothing changed: nothing is affected', () => {
  expect(after()).toEqual({ everything: undefined, files: none, platform: undefined })
})

test('a module affects the tests that reach it, and what runs on pods', () => {
  const files = { ...none, pure: ['src/a.test.ts'], integration: ['test/integration/a.test.ts'] }
  expect(after('src/a.ts')).toEqual({ everything: undefined, files, platform: 'src/a.ts' })
})

test('a test affects itself alone, a fixture the tests that reach it', () => {
  expect(after('src/a.test.ts')).toEqual({
    everything: undefined,
    files: { ...none, pure: ['src/a.test.ts'] },
    platform: undefined,
  })
  expect(after('test/e2e/platform.ts')).toMatchObject({ files: { ...none, e2e: ['test/e2e/a.test.ts'] }, platform: undefined })
  expect(after('test/sweep/scenarios/new.ts')).toMatchObject({ files: { ...none, sweep: ['test/sweep/sweep.test.ts'] } })
})

test('a module affects the test beside it, which may start it by its name', () => {
  expect(after('src/b.ts')).toMatchObject({ files: { ...none, unit: ['src/b.test.ts'] } })
})

test('a module of the product that no test reaches runs on pods only', () => {
  expect(after('src/main.ts')).toEqual({ everything: undefined, files: none, platform: 'src/main.ts' })
})

test('a guide affects the pure tests and those that play it', () => {
  const files = {
    ...none,
    pure: tests.pure,
    integration: ['test/integration/guide-examples.test.ts'],
  }
  expect(after('docs/guide/install.md')).toEqual({ everything: undefined, files, platform: undefined })
})

test('programs that tests start by the paths of their files affect all of the project unit', () => {
  expect(after('dev/images/buildpacks/node/bin/build')).toMatchObject({ files: { pure: tests.pure, unit: tests.unit } })
  expect(after('dev/github/README.md')).toMatchObject({ files: { pure: tests.pure, unit: [] } })
})

test('what only the checks read affects no test', () => {
  expect(after('biome.json', 'LICENSE')).toEqual({ everything: undefined, files: none, platform: undefined })
})

test.each([
  ['what decides how everything runs', 'package-lock.json', 'package-lock.json changed'],
  ['a manifest that fixtures apply', 'deploy/rbac/broker.yaml', 'deploy/rbac/broker.yaml changed'],
  ['a file that no list knows', 'new-folder/x.yaml', 'no test is known to use new-folder/x.yaml'],
  ['a module that no test reaches', 'dev/new/x.ts', 'no test is known to use dev/new/x.ts'],
  ['a data file in a folder of modules', 'test/integration/x.json', 'no test is known to use test/integration/x.json'],
])('everything: %s', (_, path, everything) => {
  expect(after('src/a.ts', path)).toEqual({ everything })
})
