// The order in which programs are looked for, with a temporary module and cache: cache, given assets, build.
// The module has no dependencies, so no network is needed.
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentProgress } from '../progress.ts'
import { runCommand } from '../run-command.ts'
import { readClusterSettings } from '../settings.ts'
import type { CatalogEntry } from './catalog.ts'
import { cacheFolderOf, ensureBinary } from './ensure-binary.ts'
import { cacheKey } from './fingerprint.ts'

let folder: string
const entry: CatalogEntry = {
  name: 'tiny',
  version: '1.0',
  module: 'tiny',
  builds: { tiny: '.' },
  links: { first: 'tiny', second: 'tiny' },
  ldflags: ['-s', '-w', '-X main.version=stamped'],
  tags: [],
  coldBuild: 'seconds',
}

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'binary-')))
  const module = join(folder, 'dev', 'cluster', 'modules', 'tiny')
  await mkdir(module, { recursive: true })
  await writeFile(join(module, 'go.mod'), 'module example.test/tiny\n\ngo 1.25\n')
  await writeFile(
    join(module, 'main.go'),
    'package main\n\nimport "os"\n\nvar version string\n\nfunc main() { os.Stdout.WriteString(os.Args[0] + " " + version) }\n',
  )
})

afterEach(() => rm(folder, { recursive: true }))

function deps(assets?: string) {
  const settings = readClusterSettings({ SEKISHO_CACHE: join(folder, 'cache'), SEKISHO_DOWNLOADS: 'off' }, { root: false })
  return { settings: { ...settings, repository: folder, kubebuilderAssets: assets }, progress: silentProgress }
}

test('builds once, links the names of a combined binary, then uses the cache', async () => {
  const built = await ensureBinary(entry, deps())
  expect(built.source).toBe('build')
  expect(await runCommand(built.path('second'), [])).toMatch(/second stamped$/)
  expect((await ensureBinary(entry, deps())).source).toBe('cache')
  expect(() => built.path('third')).toThrow('tiny has no program third')
})

test('prefers given assets to a build, but only when every program is there', async () => {
  const assets = join(folder, 'assets')
  await mkdir(assets)
  for (const name of ['first', 'second']) await writeFile(join(assets, name), '', { mode: 0o755 })
  expect(await ensureBinary(entry, deps(assets))).toMatchObject({ source: 'assets', folder: assets })
  await rm(join(assets, 'second'))
  expect((await ensureBinary(entry, deps(assets))).source).toBe('build')
})

const original = 'package lib\n\nfunc Name() string { return "original" }\n'

/** The module requires another one, whose name it prints. Resolves to the folder of the first and to what builds and runs it. */
async function withLibrary() {
  const module = join(folder, 'dev', 'cluster', 'modules', 'tiny')
  await mkdir(join(module, 'lib'))
  await writeFile(join(module, 'lib', 'go.mod'), 'module example.test/lib\n\ngo 1.25\n')
  await writeFile(join(module, 'lib', 'name.go'), original, { mode: 0o444 })
  const required = 'require example.test/lib v0.0.0\n\nreplace example.test/lib => ./lib\n'
  await writeFile(join(module, 'go.mod'), `module example.test/tiny\n\ngo 1.25\n\n${required}`)
  await writeFile(join(module, 'go.sum'), '')
  const main =
    'package main\n\nimport (\n\t"os"\n\n\t"example.test/lib"\n)\n\nfunc main() { os.Stdout.WriteString(lib.Name()) }\n'
  await writeFile(join(module, 'main.go'), main)
  const run = async (one: CatalogEntry): Promise<string> => runCommand((await ensureBinary(one, deps())).path('first'), [])
  expect(await run(entry)).toBe('original')
  return { module, run }
}

test('a stub stands in for a file of a required module, which stays as it is, and belongs to the key', async () => {
  const { module, run } = await withLibrary()
  await writeFile(join(module, 'stub.txt'), 'package lib\n\nfunc Name() string { return "stub" }\n')
  const stubbed = { ...entry, stubs: [{ module: 'example.test/lib', file: 'name.go', stub: 'stub.txt' }] }
  expect(await run(stubbed)).toBe('stub')
  expect(await readFile(join(module, 'lib', 'name.go'), 'utf8')).toBe(original)
  expect(await run(entry)).toBe('original')
})

test('a patch changes a required module, which stays as it is, and belongs to the key; one that does not fit ends the build', async () => {
  const { module, run } = await withLibrary()
  const write = (from: string, to: string): Promise<void> => {
    const lines = (name: string): string => `func Name() string { return "${name}" }`
    const hunk = `@@ -1,3 +1,3 @@\n package lib\n \n-${lines(from)}\n+${lines(to)}\n`
    return writeFile(join(module, 'name.patch'), `--- a/name.go\n+++ b/name.go\n${hunk}`)
  }
  // The cache is inside of a repository: git must not look at its root for what the patch names.
  await runCommand('git', ['init', '--quiet', folder])
  const patched = { ...entry, patches: [{ module: 'example.test/lib', patch: 'name.patch' }] }
  await write('original', 'patched')
  expect(await run(patched)).toBe('patched')
  expect(await readFile(join(module, 'lib', 'name.go'), 'utf8')).toBe(original)
  await write('original', 'otherwise')
  expect(await run(patched)).toBe('otherwise')
  await write('another', 'patched')
  await expect(run(patched)).rejects.toThrow('patch does not apply')
})

test('the key depends on sources and flags only', async () => {
  const { settings } = deps()
  const module = join(folder, 'dev', 'cluster', 'modules', 'tiny')
  const key = await cacheKey(entry, module, 'amd64')
  expect(await cacheFolderOf(entry, settings)).toContain(`/tiny/1.0-`)
  await writeFile(join(module, 'README.md'), 'words')
  expect(await cacheKey(entry, module, 'amd64')).toBe(key)
  expect(await cacheKey({ ...entry, ldflags: [] }, module, 'amd64')).not.toBe(key)
  expect(await cacheKey(entry, module, 'arm64')).not.toBe(key)
  await writeFile(join(module, 'main.go'), `${await readFile(join(module, 'main.go'), 'utf8')}\n`)
  expect(await cacheKey(entry, module, 'amd64')).not.toBe(key)
})

test('a failed build reports the output of the compiler and leaves no cache entry', async () => {
  await writeFile(
    join(folder, 'dev', 'cluster', 'modules', 'tiny', 'main.go'),
    'package main\n\nfunc main() { undefinedName() }\n',
  )
  await expect(ensureBinary(entry, deps())).rejects.toThrow('undefinedName')
  await expect(ensureBinary(entry, deps())).rejects.toThrow('undefinedName')
})
