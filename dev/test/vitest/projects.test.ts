// Each file of tests is in one project, and what it uses decides in which.
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testProjects } from './projects.ts'

const root = join(import.meta.dirname, '../../..')

async function projectOf(file: string, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const repository = await mkdtemp(join(tmpdir(), 'projects-'))
  onTestFinished(() => rm(repository, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(repository, name)), { recursive: true })
    await writeFile(join(repository, name), text)
  }
  return Object.entries(testProjects(repository)).find(([, found]) => found.includes(file))?.[0]
}

test.each([
  ['pure', "import { decide } from './decide.ts'"],
  ['pure', "const path = process.env['PATH']"],
  ['unit', "import { spawn } from 'node:child_process'"],
  ['unit', 'await new Promise(done => server.listen(0, done))'],
  ['unit', 'vi.useFakeTimers()'],
  ['unit', "process.env['KEY'] = 'value'"],
  ['unit', "process.env['KEY'] ??= 'value'"],
  ['unit', 'const before = process.memoryUsage().rss'],
])('%s: %s', async (project, text) => {
  expect(await projectOf('src/a.test.ts', { 'src/a.test.ts': text })).toBe(project)
})

test('what a fixture does, its tests do; what the product does, only where it is listed', async () => {
  const listens = 'server.listen(0)'
  const imports = (path: string) => ({ 'src/a.test.ts': `import { x } from '${path}'` })
  expect(await projectOf('src/a.test.ts', { ...imports('./testing/x.ts'), 'src/testing/x.ts': listens })).toBe('unit')
  expect(await projectOf('src/a.test.ts', { ...imports('../test/fixtures/x.ts'), 'test/fixtures/x.ts': listens })).toBe('unit')
  expect(await projectOf('src/a.test.ts', { ...imports('./x.ts'), 'src/x.ts': listens })).toBe('pure')
  const emulator = { 'dev/github/emulator.ts': '' }
  expect(await projectOf('src/a.test.ts', { ...imports('../dev/github/emulator.ts'), ...emulator })).toBe('unit')
})

test('a test of test/ needs the control plane when it reaches its folder', async () => {
  const client = {
    'dev/cluster/control-plane/client.ts': '',
    'test/fixtures/x.ts': "import '../../dev/cluster/control-plane/client.ts'",
  }
  const uses = "import '../fixtures/x.ts'"
  expect(await projectOf('test/integration/a.test.ts', { 'test/integration/a.test.ts': uses, ...client })).toBe('integration')
  expect(await projectOf('test/faults/a.test.ts', { 'test/faults/a.test.ts': uses, ...client })).toBe('faults')
  expect(await projectOf('test/integration/a.test.ts', { 'test/integration/a.test.ts': '', ...client })).toBe('programs')
  expect(await projectOf('test/faults/a.test.ts', { 'test/faults/a.test.ts': '', ...client })).toBe('programs')
})

test('no file of tests of this repository is in two projects or in none', () => {
  const sorted = Object.values(testProjects(root)).flat().toSorted()
  const elsewhere = ['test/sweep/**/*.test.ts', 'test/e2e/**/*.test.ts']
  const all = globSync(['{src,dev,test}/**/*.test.ts'], { cwd: root, exclude: ['**/node_modules/**', ...elsewhere] }).toSorted()
  expect(sorted).toEqual(all)
})
