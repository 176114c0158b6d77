// Imports and started programs are followed, types are not.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createImports } from './imports.ts'

const repository = await mkdtemp(join(tmpdir(), 'imports-'))
afterAll(() => rm(repository, { recursive: true, force: true }))

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(repository, file)), { recursive: true })
  await writeFile(join(repository, file), text)
}

await write(
  'src/a.test.ts',
  "import { x } from './a.ts'\nimport type {\n  T,\n} from './types.ts'\nimport { y } from 'node:fs'\n",
)
await write('src/a.ts', "export { x } from './deep/b.ts'\nconst lazy = () => import('./lazy.ts')\n")
await write('src/deep/b.ts', "spawn(process.execPath, ['test/program.ts'])\nimport { x } from '../a.ts'\nimport './gone.ts'\n")
await write('src/types.ts', '')
await write('src/lazy.ts', '')
await write('test/program.ts', "import '../src/types.ts'\n")

test('a file uses what it names, itself and through others, by the shortest way', () => {
  const { direct, reach } = createImports(repository)
  expect(direct('src/a.test.ts')).toEqual(['src/a.ts'])
  expect([...reach('src/a.test.ts')]).toEqual([
    ['src/a.test.ts', 0],
    ['src/a.ts', 1],
    ['src/deep/b.ts', 2],
    ['src/lazy.ts', 2],
    ['test/program.ts', 3],
    ['src/types.ts', 4],
  ])
})

test('a search ends where it is told to, and there it finds what it ends at', () => {
  const { reach } = createImports(repository)
  expect([...reach('src/a.test.ts', file => file === 'src/deep/b.ts').keys()]).toEqual([
    'src/a.test.ts',
    'src/a.ts',
    'src/deep/b.ts',
    'src/lazy.ts',
  ])
})

test('a file that does not exist uses nothing', () => {
  expect([...createImports(repository).reach('src/none.ts').keys()]).toEqual(['src/none.ts'])
})
