// `make t F=word`: the tests of a word of a path while one works. The small ones answer first; when they pass, the tests on
// programs and on the API server that are named like it or import such a file themselves, or the nearest two. What else uses it
// is named, with the command that runs it.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createImports } from '../test/vitest/imports.ts'
import { testProjects } from '../test/vitest/projects.ts'
import { type Choice, choose, type Users } from './choose.ts'

const repository = join(import.meta.dirname, '../..')
const maxNames = 5
const nearest = 2
/** Started from here. The others are minutes, or need the running platform. */
const started = ['programs', 'integration']

const [word = '', how] = process.argv.slice(2)
if (word === '' || (how !== undefined && how !== '--all')) {
  console.error('usage: make t F=<part of a path> [ALL=1]    for example: make t F=controllers/domain-claim')
  process.exit(2)
}
process.exitCode = await run(choose(word, checkout(), createImports(repository)), how === '--all')

function checkout() {
  const files = (pattern: string): string[] => globSync(pattern, { cwd: repository, exclude: ['**/node_modules/**'] }).toSorted()
  const { pure, unit, ...large } = testProjects(repository)
  return {
    sources: files('{src,dev,test}/**/*.ts').filter(file => !file.endsWith('.test.ts')),
    small: [...pure, ...unit],
    large: { ...large, sweep: files('test/sweep/**/*.test.ts'), e2e: files('test/e2e/**/*.test.ts') },
  }
}

/** Resolves to the exit code: that of the first tests that fail. */
async function run({ small, sources, users }: Choice, withFar: boolean): Promise<number> {
  if (small.length + sources.length + users.length === 0) {
    console.error(`no path contains ${word}`)
    return 2
  }
  const code = small.length === 0 ? 0 : await vitest(['pure', 'unit'], small)
  console.log(`\n${sources.length} files of ${word} are used by:`)
  for (const { project, near, far } of users) {
    console.log(`  ${project.padEnd(12)} ${near.length} directly${listed(near)}; ${far.length} through others${listed(far)}`)
    if (!started.includes(project)) console.log(`  ${''.padEnd(12)} npx vitest run --project ${project}`)
  }
  const chosen = chosenOf(
    users.filter(({ project }) => started.includes(project)),
    withFar,
  )
  if (code !== 0 || chosen.length === 0) return code
  if (!withFar) console.log('  ALL=1 also runs those that use it through others')
  return await vitest(started, chosen)
}

function chosenOf(users: readonly Users[], withFar: boolean): readonly string[] {
  const near = users.flatMap(one => one.near)
  const far = users.flatMap(one => one.far)
  if (withFar) return [...near, ...far]
  return near.length > 0 ? near : far.slice(0, nearest)
}

function listed(files: readonly string[]): string {
  if (files.length === 0) return ''
  return ` (${files.slice(0, maxNames).join(' ')}${files.length > maxNames ? ' …' : ''})`
}

function vitest(projects: readonly string[], files: readonly string[]): Promise<number> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects.flatMap(project => ['--project', project]), ...files]
  const child = spawn(process.execPath, args, { cwd: repository, stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}
