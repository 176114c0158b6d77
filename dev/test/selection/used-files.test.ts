// Whom a changed file below `test` concerns: by imports, by what runs around the tests, by the list; everybody when not known.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createImports } from '../vitest/imports.ts'
import { createUsedFiles } from './used-files.ts'

const root = join(import.meta.dirname, '../../..')
const pods = 'test/e2e/a.test.ts'
const server = 'test/integration/a.test.ts'

async function usedIn(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'used-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  return createUsedFiles(folder, { integration: [server], e2e: [pods] }, createImports(folder))
}

test('a file of tests uses itself, what it imports, what runs around it and what the list says', async () => {
  const { byTest } = await usedIn({
    [pods]: "import './platform.ts'\n",
    'test/e2e/platform.ts': "import './objects.ts'\n",
    'test/e2e/objects.ts': '',
    [server]: "import '../fixtures/kube.ts'\n",
    'test/fixtures/kube.ts': '',
    'test/fixtures/global-setup.ts': "import './kinds.ts'\n",
    'test/fixtures/kinds.ts': '',
  })
  const usersOf = (path: string): readonly string[] => [pods, server].filter(one => byTest(one, path))
  expect(usersOf(pods)).toEqual([pods])
  expect(usersOf('test/e2e/objects.ts')).toEqual([pods])
  expect(usersOf('test/e2e/pod-process.ts')).toEqual([pods])
  expect(usersOf('test/fixtures/kube.ts')).toEqual([server])
  expect(usersOf('test/fixtures/kinds.ts')).toEqual([server])
  expect(usersOf('test/fixtures/form.ts')).toEqual([pods, server])
})

test('a file of which nobody knows who uses it concerns every file of tests, one that is gone none', async () => {
  const { byTest, byScenario } = await usedIn({
    [pods]: '',
    'test/fixtures/new.ts': '',
    'test/data.json': '',
    'test/sweep/scenarios/index.ts': "import './a.ts'\n",
    'test/sweep/scenarios/a.ts': "controllers: ['application'],\nname: 'tenant'",
    'test/sweep/scenarios/new.ts': '',
  })
  for (const path of ['test/fixtures/new.ts', 'test/data.json']) expect(byTest(pods, path)).toBe(true)
  expect(byTest(pods, 'test/fixtures/gone.ts')).toBe(false)
  expect(byTest(pods, 'src/a.ts')).toBe(false)
  const covers = (path: string) =>
    ['application', 'tenant'].filter(subject => byScenario(subject, `test/sweep/scenarios/${path}`))
  expect(covers('a.ts')).toEqual(['application'])
  expect(covers('new.ts')).toEqual(['application', 'tenant'])
  expect(covers('index.ts')).toEqual([])
  expect(covers('gone.ts')).toEqual([])
})

test('what the configuration of Vitest names concerns every test on the API server', async () => {
  const { byTest } = createUsedFiles(root, { integration: [server] }, createImports(root))
  const named = [...(await readFile(join(root, 'vitest.config.ts'), 'utf8')).matchAll(/'(?:\.\/)?(test\/fixtures\/[^'*]+\.ts)'/g)]
  const files = named.flatMap(([, file]) => file ?? [])
  expect(files).toContain('test/fixtures/global-setup.ts')
  expect(files.filter(file => !byTest(server, file))).toEqual([])
})
