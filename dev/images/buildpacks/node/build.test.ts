// The decisions of the Node.js buildpack from an app's files, and whole builds without packages of the registry.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { commandOf } from '../shared/launch.ts'
import { parseProcfile } from '../shared/procfile.ts'
import { type Files, type HostBuild, openWorkshop } from '../testing/run-on-host.ts'
import { checkEngine } from './engines.ts'
import { parsePackageDescription } from './package-description.ts'
import { choosePackageManager } from './package-manager.ts'
import { findProcesses, missingFile } from './start-command.ts'

let scratch = ''
afterEach(async () => {
  if (scratch !== '') await rm(scratch, { recursive: true, force: true })
  scratch = ''
})

function built(files: Files, environment: Files = {}, bindings: Readonly<Record<string, Files>> = {}): HostBuild {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  return workshop.build('node', environment, bindings)
}

const none = { scripts: {}, main: undefined }
const noProcfile = new Map<string, string>()

test('a folder without package.json is left to other buildpacks', () => {
  const workshop = openWorkshop({ 'index.html': '' })
  onTestFinished(workshop.remove)
  expect(workshop.detects('node')).toBe(false)
  workshop.write({ 'package.json': '{}' })
  expect(workshop.detects('node')).toBe(true)
})

test('the first buildpack removes the clone', async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sekisho-bp-'))
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
  ['next start', ['next', 'start']],
  ['NODE_ENV=x node app.js', ['sh', '-c', 'NODE_ENV=x node app.js']],
  ['node a.js && echo done', ['sh', '-c', 'node a.js && echo done']],
  ['node $FILE', ['sh', '-c', 'exec node $FILE']],
  ['gunicorn --bind 0.0.0.0:$' + '{PORT:-80} app:app', ['sh', '-c', 'exec gunicorn --bind 0.0.0.0:$' + '{PORT:-80} app:app']],
  ['cd api && node x.js', ['sh', '-c', 'cd api && node x.js']],
])('the command line %j starts %j', (line, command) => {
  expect(commandOf(line)).toEqual(command)
})

test.each([
  ['the Procfile before scripts.start', { start: 'node a.js' }, 'web: node b.js', [['web', 'node b.js']]],
  [
    'scripts.start beside a worker',
    { start: 'node a.js' },
    'worker: node w.js',
    [
      ['web', 'node a.js'],
      ['worker', 'node w.js'],
    ],
  ],
  ['a worker alone', {}, 'worker: node w.js', [['worker', 'node w.js']]],
  ['npm start as its script', { start: 'node a.js' }, 'web: npm start', [['web', 'node a.js']]],
  ['yarn worker as its script', { work: 'node w.js' }, 'web: yarn work', [['web', 'node w.js']]],
  ['a script with a step before it by npm', { start: 'node a.js', prestart: 'x' }, '', [['web', 'npm start']]],
  [
    'a release command',
    { start: 'node a.js' },
    'release: npx prisma migrate deploy',
    [
      ['web', 'node a.js'],
      ['release', 'npx prisma migrate deploy'],
    ],
  ],
] as const)('processes: %s', (_what, scripts, text, expected) => {
  const found = findProcesses({ scripts, main: undefined }, parseProcfile(text), () => false)
  expect(found?.map(({ type, command }) => [type, command.join(' ')])).toEqual(expected)
})

test.each(['vite', 'vite preview', 'react-scripts start', 'ng serve --open'])('%s is not a way to serve people', start => {
  expect(findProcesses({ ...none, scripts: { start } }, noProcfile, () => false)).toBeUndefined()
})

test('without a start script, main comes before conventional names, and files must exist', () => {
  const found = { ...none, main: 'app.js' }
  expect(findProcesses(found, noProcfile, path => path === 'server.js')).toEqual([
    { type: 'web', command: ['node', 'server.js'] },
  ])
  expect(findProcesses(found, noProcfile, () => true)).toEqual([{ type: 'web', command: ['node', 'app.js'] }])
  expect(findProcesses(none, noProcfile, () => false)).toBeUndefined()
})

test('a file that the start command names and that does not exist is found', () => {
  const exists = (path: string): boolean => path === 'dist/index.js'
  expect(missingFile(['node', 'dist/index.js'], exists)).toBeUndefined()
  expect(missingFile(['node', 'dist'], exists)).toBeUndefined()
  expect(missingFile(['node', 'dist/main.js'], exists)).toBe('dist/main.js')
  expect(missingFile(['node', '--import', 'x', 'y.js'], exists)).toBeUndefined()
})

test.each([
  ['{', 'not valid JSON'],
  ['[]', 'must contain an object'],
  ['{"scripts":{"start":1}}', 'scripts.start must be a string'],
  ['{"main":{}}', 'main must be a string'],
  ['{"engines":{"node":24}}', 'engines.node must be a string'],
])('package.json %s is refused with a message', (text, words) => {
  expect(() => parsePackageDescription(text)).toThrow(words)
})

test.each(['web node server.js', 'web:', 'we b: x'])('the Procfile line %j is refused by its number', line => {
  expect(() => parseProcfile(`# comment\n\n${line}`)).toThrow('Procfile, line 3')
})

const searchPath = process.env['PATH'] ?? ''

test('engines.node must contain the version of the builder, and the message names both', () => {
  for (const range of [undefined, '', '24.x', '>=18', '^24.1.0', '20 || 24']) checkEngine(range, '24.21.0', searchPath)
  expect(() => checkEngine('18.x', '24.21.0', searchPath)).toThrow(
    /engines.node is "18.x", and this builder has Node.js 24.21.0.*"24.x"/,
  )
  expect(() => checkEngine('lts/*', '24.21.0', searchPath)).toThrow('not a range of versions')
})

test.each<[string, readonly string[], string | undefined, string]>([
  ['no lock file', [], undefined, 'npm install'],
  ['package-lock.json', ['package-lock.json'], undefined, 'npm ci'],
  ['pnpm-lock.yaml', ['pnpm-lock.yaml'], 'pnpm@9.1.0+sha512.abc', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', ['yarn.lock'], undefined, 'yarn install --non-interactive --frozen-lockfile'],
  ['yarn.lock of yarn 4', ['yarn.lock'], 'yarn@4.1.0', 'yarn install --immutable'],
])('%s decides the package manager', (_what, files, packageManager, command) => {
  const manager = choosePackageManager({ packageManager }, path => files.includes(path))
  expect(manager.install(true).join(' ')).toContain(command)
})

test.each<[string, readonly string[], string | undefined, RegExp]>([
  ['two lock files', ['package-lock.json', 'yarn.lock'], undefined, /package-lock.json and yarn.lock contradict/],
  ['bun', ['bun.lock'], undefined, /bun.lock: bun is not supported; use npm, pnpm or yarn/],
  ['another name in packageManager', ['yarn.lock'], 'pnpm@9.0.0', /packageManager is pnpm@9.0.0, and yarn.lock is of yarn/],
])('%s is refused by name', (_what, files, packageManager, message) => {
  expect(() => choosePackageManager({ packageManager }, path => files.includes(path))).toThrow(message)
})

test('an app without packages gets its processes', () => {
  const { code, launch } = built({
    'package.json': '{"scripts":{"start":"node server.js"}}',
    'server.js': '',
    Procfile: 'worker: node work.js',
    'work.js': '',
  })
  expect(code).toBe(0)
  expect(launch).toContain('type = "web"\ncommand = ["node","server.js"]\ndefault = true')
  expect(launch).toContain('type = "worker"\ncommand = ["node","work.js"]')
})

test('the build script runs with the secrets and variables of the build, and in production', () => {
  const script = 'node -e \\"fs.writeFileSync(\'out.txt\', [process.env.NODE_ENV, process.env.A, process.env.TOKEN].join())\\"'
  const { code, appFolder, layersFolder } = built(
    { 'package.json': `{"scripts":{"build":"${script}","start":"node server.js"}}`, 'server.js': '' },
    { A: 'plain' },
    { registry: { TOKEN: 'secret\n', type: 'sekisho', 'not-a-name': 'x' } },
  )
  expect(code).toBe(0)
  expect(readFileSync(join(appFolder, 'out.txt'), 'utf8')).toBe('production,plain,secret')
  const kept = spawnSync('grep', ['-r', 'secret', layersFolder], { encoding: 'utf8' })
  expect(kept.stdout).toBe('')
})

test('a build script that makes a site, without a start command, is a static site', () => {
  const build = "node -e \\\"fs.mkdirSync('dist'); fs.writeFileSync('dist/index.html', 'x')\\\""
  const { code, launch, layersFolder } = built({
    'package.json': `{"scripts":{"build":"${build}","start":"vite"}}`,
    'index.html': 'source',
  })
  expect(code).toBe(0)
  expect(launch).toContain('static-server/server.mjs')
  expect(existsSync(join(layersFolder, 'static-server', 'server.mjs'))).toBe(true)
})

test.each<[string, Files, string]>([
  ['a broken package.json', { 'package.json': '{' }, 'package.json is not valid JSON'],
  ['no start command', { 'package.json': '{}' }, 'no start command found: set scripts.start'],
  [
    'a build script that fails',
    { 'package.json': '{"scripts":{"build":"exit 3","start":"x"}}' },
    'npm run build failed with exit code 3',
  ],
  [
    'a start command without its file',
    { 'package.json': '{"scripts":{"build":"true","start":"node dist/index.js"}}' },
    'no file dist/index.js after the build script',
  ],
  ['an engine that is not there', { 'package.json': '{"engines":{"node":"6.x"}}' }, 'engines.node is "6.x"'],
])('%s fails the build; its last line is for the owner', (_what, files, message) => {
  const { code, log } = built(files)
  expect(code).toBe(1)
  expect(log.trim().split('\n').at(-1)).toContain('sekisho/node: error: ')
  expect(log.trim().split('\n').at(-1)).toContain(message)
})
