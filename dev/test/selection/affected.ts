// `make test CHANGED=1`: which tests changes can affect. By what each test imports, by the list of what is read and not
// imported, and for what runs on pods by folders. A decision about facts, which fails closed: a path that nothing knows
// affects everything.
import { matchesGlob } from 'node:path'
import type { Imports } from '../vitest/imports.ts'
import { type Affects, platformFiles, readFiles } from './read-files.ts'

/** The files of tests by the projects of Vitest. */
export type TestFiles = Readonly<Record<string, readonly string[]>>

export type Affected =
  | { readonly everything: string }
  | {
      readonly everything: undefined
      /** The files of tests by project. */
      readonly files: TestFiles
      /** The first path because of which what runs on pods is affected. */
      readonly platform: string | undefined
    }

/** The lines that affect all files of a project. */
const linesOfAll: Readonly<Record<string, readonly Affects[]>> = { pure: ['pure', 'small'], unit: ['small'] }

export function affectedBy(changes: readonly string[], tests: TestFiles, imports: Pick<Imports, 'reach'>): Affected {
  const users = usersOf(tests, imports)
  const named = new Map(changes.map(path => [path, linesFor(path)]))
  const everything = changes.find(path => named.get(path)?.includes('everything'))
  if (everything !== undefined) return { everything: `${everything} changed` }
  const isUnused = (path: string): boolean => path.startsWith('src/') && path.endsWith('.ts')
  const unknown = changes.find(path => named.get(path)?.length === 0 && !users.has(path) && !isUnused(path))
  if (unknown !== undefined) return { everything: `no test is known to use ${unknown}` }
  const lines = [...named.values()].flat()
  // The test beside a module may start it by its bare name.
  const used = new Set(changes.flatMap(path => [...(users.get(path) ?? []), path.replace(/(?<!\.test)\.ts$/, '.test.ts')]))
  const isAffected = (project: string, file: string): boolean =>
    used.has(file) ||
    linesOfAll[project]?.some(line => lines.includes(line)) === true ||
    lines.some(line => line.includes('/') && matchesGlob(file, line))
  const files = Object.fromEntries(
    Object.entries(tests).map(([project, all]) => [project, all.filter(file => isAffected(project, file))]),
  )
  const isOfPlatform = (path: string): boolean =>
    !path.endsWith('.test.ts') &&
    (named.get(path)?.includes('platform') === true || platformFiles.some(glob => matchesGlob(path, glob)))
  return { everything: undefined, files, platform: changes.find(isOfPlatform) }
}

export function linesFor(path: string): readonly Affects[] {
  return readFiles.flatMap(({ files, affects }) => (matchesGlob(path, files) ? affects : []))
}

/** What Vitest starts around all files of these projects: vitest.config.ts. */
const startedAround: Readonly<Record<string, string>> = {
  integration: 'test/fixtures/global-setup.ts',
  faults: 'test/fixtures/global-setup.ts',
  sweep: 'test/fixtures/global-setup.ts',
}

/** The tests that use each file, themselves included. */
export function usersOf(tests: TestFiles, imports: Pick<Imports, 'reach'>): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map<string, Set<string>>()
  for (const [project, files] of Object.entries(tests)) {
    const around = startedAround[project]
    const shared = around === undefined ? [] : [...imports.reach(around).keys()].filter(file => file.startsWith('test/'))
    for (const test of files)
      for (const file of [...imports.reach(test).keys(), ...shared]) users.set(file, (users.get(file) ?? new Set()).add(test))
  }
  return users
}
