// A program of the image runs without the compiler that strips types: sources with types do not load there.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { textFile } from '../archive/tree-entry.ts'
import { hook, hookFile, plainSource, runtimeEnvironment } from './plain-sources.ts'

const run = promisify(execFile)

const program = `import { Worker } from 'node:worker_threads'
type Seen = { readonly where: string }
if (process.argv[2] === 'thread') new Worker(new URL('./thread.ts', import.meta.url))
const seen: Seen = { where: new Error('here').stack?.split('\\n')[1] ?? '' }
console.log(seen.where.replace(/.*[/]src/, 'src'))
`
const thread = `const text: string = 'from the thread'
console.log(text)
`

async function appFolder(content: (text: string) => Promise<string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-plain-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, hookFile), hook)
  await writeFile(join(folder, 'src/main.ts'), await content(program))
  await writeFile(join(folder, 'src/thread.ts'), await content(thread))
  return folder
}

const start = (folder: string, ...words: string[]) =>
  run(process.execPath, ['src/main.ts', ...words], { cwd: folder, env: { ...runtimeEnvironment(folder) } })

async function withoutTypes(text: string): Promise<string> {
  const entry = await plainSource(textFile('app/src/x.ts', text))
  return entry.kind === 'file' && entry.source.kind === 'bytes' ? Buffer.from(entry.source.bytes).toString() : ''
}

test('sources without types run as they are, in threads too, and errors name the line and column of the source', async () => {
  const folder = await appFolder(withoutTypes)
  const { stdout, stderr } = await start(folder, 'thread')
  expect(stdout.split('\n').sort()).toEqual(['', 'from the thread', 'src/main.ts:4:29'])
  expect(stderr).toBe('')
})

test('Node.js does not strip types there', async () => {
  const folder = await appFolder(async text => text)
  await expect(start(folder)).rejects.toThrow('SyntaxError')
})
