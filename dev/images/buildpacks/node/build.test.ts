// The decisions of the Node.js buildpack from an app's files.
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runBuild } from './build.ts'
import { dependencyKey, isSameDependencies, layerDescription } from './dependency-key.ts'
import { parsePackageDescription } from './package-description.ts'
import { decideStart } from './start-command.ts'

let scratch = ''
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sekisho-bp-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(scratch, { recursive: true, force: true })
})

const none = { hasDependencies: false, start: undefined, main: undefined }

test('a folder without package.json is left to other buildpacks', async () => {
  const detect = (): number | null =>
    spawnSync('sh', [fileURLToPath(new URL('./bin/detect', import.meta.url))], { cwd: scratch, stdio: 'ignore' }).status
  expect(detect()).toBe(100)
  await writeFile(join(scratch, 'package.json'), '{}')
  expect(detect()).toBe(0)
})

test('the first buildpack removes the clone and never fails an app', async () => {
  const script = fileURLToPath(new URL('../prepare/bin/build', import.meta.url))
  const prepare = (): number | null => spawnSync('sh', [script], { cwd: scratch, stdio: 'ignore' }).status
  await mkdir(join(scratch, '.git', 'objects'), { recursive: true })
  await writeFile(join(scratch, 'server.js'), '')
  expect(prepare()).toBe(0)
  expect(await readdir(scratch)).toEqual(['server.js'])
  expect(prepare()).toBe(0)
})

test.each([
  ['node server.js', ['node', 'server.js']],
  ['node --enable-source-maps dist/app.js', ['node', '--enable-source-maps', 'dist/app.js']],
  ['NODE_ENV=x node app.js', ['sh', '-c', 'NODE_ENV=x node app.js']],
  ['node a.js && echo done', ['sh', '-c', 'node a.js && echo done']],
  ['node $FILE', ['sh', '-c', 'node $FILE']],
])('the start script %j starts %j', (start, command) => {
  expect(decideStart({ ...none, start }, () => false)).toEqual({ ok: true, command })
})

test('without a start script, main comes before conventional names, and files must exist', () => {
  expect(decideStart({ ...none, main: 'app.js' }, path => path !== 'app.js')).toEqual({
    ok: true,
    command: ['node', 'server.js'],
  })
  expect(decideStart({ ...none, main: 'app.js' }, () => true)).toEqual({ ok: true, command: ['node', 'app.js'] })
  expect(decideStart(none, () => false)).toMatchObject({ ok: false, problem: expect.stringContaining('scripts.start') })
})

test.each([
  ['{', 'not valid JSON'],
  ['[]', 'must contain an object'],
  ['{"scripts":{"start":1}}', 'scripts.start must be a string'],
  ['{"main":{}}', 'main must be a string'],
])('package.json %s is refused with a message', (text, words) => {
  expect(parsePackageDescription(text)).toMatchObject({ ok: false, problem: expect.stringContaining(words) })
})

test('modules are reused only when node, package.json and lockfile are all the same', () => {
  const files = new Map([
    ['package.json', Buffer.from('{}')],
    ['package-lock.json', Buffer.from('{}')],
  ])
  const key = dependencyKey('v24', files)
  const others = [
    dependencyKey('v26', files),
    dependencyKey('v24', new Map([...files, ['package.json', Buffer.from('{"a":1}')]])),
    dependencyKey('v24', new Map([...files, ['.npmrc', Buffer.from('')]])),
  ]
  expect(isSameDependencies(layerDescription(key), key)).toBe(true)
  for (const other of others) expect(isSameDependencies(layerDescription(key), other)).toBe(false)
  expect(isSameDependencies(undefined, key)).toBe(false)
})

test('an app without dependencies gets its start command and no modules', async () => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  await writeFile(join(scratch, 'package.json'), '{"scripts":{"start":"node server.js"}}')
  expect(runBuild({ layersFolder: scratch, appFolder: scratch, environment: {} })).toBe(0)
  expect(await readFile(join(scratch, 'launch.toml'), 'utf8')).toContain('command = ["node","server.js"]')
})

test('a broken package.json fails the build with a message', async () => {
  const said = vi.spyOn(console, 'log').mockReturnValue(undefined)
  await writeFile(join(scratch, 'package.json'), '{')
  expect(runBuild({ layersFolder: scratch, appFolder: scratch, environment: {} })).toBe(1)
  expect(said.mock.calls.flat().join('\n')).toContain('package.json is not valid JSON')
})
