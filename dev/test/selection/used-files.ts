// Which files below `test` a costly case uses: what its files of tests import, what Vitest starts around them, and what the list
// of read-files.ts says. Fails closed: a file of which nobody knows who uses it is used by every case.
import { existsSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import type { Imports } from '../vitest/imports.ts'
import { linesFor, type TestFiles, usersOf } from './affected.ts'
import { crashPoints } from './proofs.ts'

export type UsedFiles = {
  /** Whether that file of tests uses that path below `test`. */
  readonly byTest: (test: string, path: string) => boolean
  /** Whether a scenario of that subject of `crashPoints` uses that path below `test/sweep/scenarios`. */
  readonly byScenario: (subject: string, path: string) => boolean
}

const scenarios = 'test/sweep/scenarios/'
/** Names the others, of which each is asked for itself. */
const scenarioList = `${scenarios}index.ts`

/** Answers for one state of the files. Of paths that are not there any more it says nothing: who used them changed, too. */
export function createUsedFiles(repository: string, tests: TestFiles, imports: Pick<Imports, 'direct' | 'reach'>): UsedFiles {
  const users = usersOf(tests, imports)
  const subjects = subjectsOfScenarios(repository, imports)
  const isThere = (path: string): boolean => existsSync(join(repository, path))

  function byTest(test: string, path: string): boolean {
    if (!path.startsWith('test/')) return false
    if (users.get(path)?.has(test) === true || path === test) return true
    const lines = linesFor(path)
    if (lines.includes('everything')) return true
    if (lines.some(line => line.includes('/') && matchesGlob(test, line))) return true
    return lines.length === 0 && !users.has(path) && isThere(path)
  }

  function byScenario(subject: string, path: string): boolean {
    if (!path.startsWith(scenarios) || path === scenarioList || !isThere(path)) return false
    const covered = subjects.get(path)
    return covered === undefined || covered.has(subject)
  }

  return { byTest, byScenario }
}

/** What the scenarios cover that use each file: by the text of theirs, the controllers and the parts of names. */
function subjectsOfScenarios(
  repository: string,
  imports: Pick<Imports, 'direct' | 'reach'>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const scenario of imports.direct(scenarioList).filter(file => file.startsWith(scenarios))) {
    const covered = subjectsIn(readFileSync(join(repository, scenario), 'utf8'))
    if (covered.length === 0) continue
    for (const file of imports.reach(scenario).keys()) found.set(file, new Set([...(found.get(file) ?? []), ...covered]))
  }
  return found
}

/** As test/fixtures/form.ts chooses: by its controllers, and by what its name begins with. */
function subjectsIn(text: string): readonly string[] {
  const lists = [...text.matchAll(/controllers: \[([^\]]*)\]/g)].map(([, list = '']) => list)
  const controllers = lists.flatMap(list => [...list.matchAll(/'([^']+)'/g)].flatMap(([, name]) => name ?? []))
  const names = [...text.matchAll(/name: ['`]([^'`]*)/g)].flatMap(([, name]) => name ?? [])
  const isNamed = (subject: string): boolean => names.some(name => name.startsWith(`${subject}:`))
  return Object.keys(crashPoints).filter(subject => controllers.includes(subject) || isNamed(subject))
}
