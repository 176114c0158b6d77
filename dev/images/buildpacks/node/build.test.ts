// The decisions of the Node.js buildpack from an app's files, and whole builds without packages of the registry.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { type Files, type HostBuild, openWorkshop } from '../testing/run-on-host.ts'
import { checkEngine } from './engines.ts'
import { parsePackageDescription } from './package-description.ts'

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
  ['{', 'not valid JSON'],
  ['[]', 'must contain an object'],
  ['{"scripts":{"start":1}}', 'scripts.start must be a string'],
  ['{"main":{}}', 'main must be a string'],
  ['{"engines":{"node":24}}', 'engines.node must be a string'],
])('package.json %s is refused with a message', (text, words) => {
  expect(() => parsePackageDescription(text)).toThrow(words)
})

const searchPath = process.env['PATH'] ?? ''

test('engines.node must contain the version of the builder, and the message names both', () => {
  for (const range of [undefined, '', '24.x', '>=18', '^24.1.0', '20 || 24']) checkEngine(range, '24.21.0', searchPath)
  expect(() => checkEngine('18.x', '24.21.0', searchPath)).toThrow(
    /engines.node is "18.x", and this builder has Node.js 24.21.0.*"24.x"/,
  )
  expect(() => checkEngine('lts/*', '24.21.0', searchPath)).toThrow('not a range of versions')
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

/** Of an Application, as the RemoteSync tells it. */
const application = (folder: string, facts: object = {}): Files => ({
  BP_APPLICATION_FOLDER: folder,
  BP_APPLICATION_PROCESSES: JSON.stringify(facts),
})
const server = "require('node:http')"

/** Layouts of repositories that people had trouble with elsewhere (docs/guide/monorepos.md, docs/guide/buildpacks.md). */
test.each<[string, Files, RegExp]>([
  [
    'main without its extension',
    { 'package.json': '{"main":"src/app"}', 'src/app.js': server },
    /command = \["node","src\/app"\]/,
  ],
  [
    'a site with a package.json for tools only',
    {
      'package.json': '{"private":true,"main":"index.js","scripts":{"format":"prettier ."}}',
      'index.html': '<script src="./index.js">',
      'index.js': '',
    },
    /static-server/,
  ],
  [
    'a start script of a workspace that builds with Procfile and hooks',
    { 'package.json': '{"scripts":{"start":"node server.js"}}', 'server.js': '', Procfile: '\uFEFFweb: yarn start\r\n' },
    /command = \["node","server.js"\]/,
  ],
])('%s is built', (_what, files, launch) => {
  const result = built(files)
  expect([result.code, result.log]).toEqual([0, expect.any(String)])
  expect(result.launch).toMatch(launch)
})

test.each<[string, Files, RegExp]>([
  [
    'a program of devDependencies',
    { 'package.json': '{"scripts":{"start":"semver 1.2.3"},"devDependencies":{"semver":"7.6.3"}}' },
    /process web runs semver 1.2.3, and semver is a program of the package semver, which is not in the image: move semver/,
  ],
  [
    'a program that nothing brings',
    { 'package.json': '{"scripts":{"start":"no-such-program x"}}' },
    /the image has no program no-such-program/,
  ],
  [
    'a package manager that only builds have',
    { 'package.json': '{}', Procfile: 'web: pnpm --filter api start' },
    /the image has no pnpm/,
  ],
  [
    'a folder of a workspace alone',
    { 'package.json': '{"dependencies":{"ui":"workspace:*"}}' },
    /wants ui as "workspace:\*".* set spec.build.root/,
  ],
  [
    'a package.json of 50 MB',
    { 'package.json': `{"a":"${'x'.repeat(50 * 1_048_576)}"}` },
    /package.json has more than 1 MiB: shorten it/,
  ],
  [
    'a Procfile of a million lines',
    { 'package.json': '{}', Procfile: 'web: node a.js\n'.repeat(1_000_000) },
    /Procfile has more than 64 KiB: shorten it/,
  ],
])('%s fails the build with its cause in the last line', (_what, files, message) => {
  const { code, log } = built(files)
  expect([code, log.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(message)])
})

test.each(['{', '{"processes":{}}', '{"processes":[{"name":1}]}', '{"processes":[{"name":"web","command":"x"}]}'])(
  'what the platform says of the Application is refused in another form: %s',
  text => {
    const { code, log } = built({ 'package.json': '{}', 'server.js': '' }, { BP_APPLICATION_PROCESSES: text })
    expect(code).toBe(1)
    expect(log).toMatch(/error: BP_APPLICATION_PROCESSES is set by the platform: remove it from spec.build.env/)
  },
)

test('without a start command the Application names one, whose program must be there, too', () => {
  const files = { 'package.json': '{"name":"x"}', 'work.js': '' }
  const named = (command?: readonly string[]): Files => application('.', { processes: [{ name: 'web', command }] })
  const result = built(files, named(['node', 'work.js']))
  expect([result.code, result.log]).toEqual([0, expect.stringContaining('the processes of the Application have their own')])
  expect(result.launch).not.toContain('[[processes]]')
  expect(built(files, named(['node', 'absent.js'])).log).toMatch(
    /error: process web runs node absent.js, and there is no file absent.js/,
  )
  expect(built(files, named()).log).toMatch(/error: no start command found/)
})

/** Packages of the repository alone, so that npm needs no registry. */
const workspace: Files = {
  'package.json': '{"private":true,"workspaces":["packages/*","apps/*","!apps/old"],"scripts":{"build":"exit 7"}}',
  'packages/base/package.json':
    '{"name":"base","version":"1.0.0","scripts":{"build":"node -e \\"fs.writeFileSync(\'built.js\', \'module.exports = 1\')\\""}}',
  'packages/ui/package.json':
    '{"name":"ui","version":"1.0.0","main":"built.js","dependencies":{"base":"1.0.0","circle":"*"},"scripts":{"build":"node -e \\"require(\'base/built.js\'); fs.writeFileSync(\'built.js\', \'module.exports = 2\')\\""}}',
  'packages/circle/package.json': '{"name":"circle","version":"1.0.0","dependencies":{"ui":"*"}}',
  'tools/tool/package.json': '{"name":"tool","version":"1.0.0","bin":"tool.js"}',
  'tools/tool/tool.js': '#!/usr/bin/env node\n',
  'apps/api/package.json':
    '{"name":"api","dependencies":{"ui":"*"},"devDependencies":{"tool":"file:../../tools/tool"},"scripts":{"build":"node -e \\"require(\'ui\'); fs.writeFileSync(\'out.txt\', \'built\')\\"","start":"node server.js"}}',
  'apps/api/server.js': "require('ui')",
  'apps/api/Procfile': 'worker: node ./server\n',
  'apps/old/package.json': 'not a package any more',
  'apps/web/package.json': '{"name":"web","dependencies":{"ui":"*"}}',
}

test('one application of a workspace is built after the packages that it uses, and starts in its own folder', () => {
  const result = built(workspace, application('apps/api'))
  expect([result.code, result.log]).toEqual([0, expect.any(String)])
  const runs = [...result.log.matchAll(/npm run build(?: \(in (\S+)\))?/g)].map(match => match[1])
  expect(runs).toEqual(['packages/base', 'packages/ui', 'apps/api'])
  expect(result.log).toMatch(/packages\/\w+ and packages\/\w+ use each other/)
  const folder = JSON.stringify(join(result.appFolder, 'apps/api'))
  expect(result.launch).toContain(`command = ["node","server.js"]\nworking-dir = ${folder}\ndefault = true`)
  expect(result.launch).toContain(`type = "worker"\ncommand = ["node","./server"]\nworking-dir = ${folder}`)
  expect(result.launch).toContain('[[labels]]\nkey = "sekisho.dev/application-folder"\nvalue = "apps/api"\n')
  expect(spawnSync('node', ['server.js'], { cwd: join(result.appFolder, 'apps/api') }).status).toBe(0)
})

test('commands of the Application are looked for in its folder, where they start', () => {
  const named = (file: string) => application('apps/api', { processes: [{ name: 'queue', command: ['node', file] }] })
  expect(built(workspace, named('server.js')).code).toBe(0)
  expect(built(workspace, named('apps/api/server.js')).log).toMatch(
    /process queue runs node apps\/api\/server.js, and there is no file/,
  )
  const alone = { 'package.json': '{"scripts":{"start":"node server.js"}}', 'server.js': '' }
  expect(built(alone).launch).not.toContain('[[labels]]')
})

test.each<[string, Files, Files, RegExp]>([
  [
    'a program of devDependencies of the application',
    { 'apps/api/Procfile': 'web: tool' },
    application('apps/api'),
    /tool is a program of the package tool, which is not in the image/,
  ],
  ['no start command', {}, application('apps/web'), /no start command found/],
  ['a folder that is not there', {}, application('apps/none'), /there is no apps\/none\/package.json: correct spec.subPath/],
  ['a folder outside', {}, application('../x'), /must be below the folder that is built/],
  [
    'a root without a workspace',
    { 'package.json': '{}' },
    application('apps/api'),
    /not a workspace of npm: it has no package.json with workspaces/,
  ],
  ['a package.json that leads out', {}, application('linked'), /linked\/package.json leads out of the repository/],
])('of a workspace: %s fails the build', (_what, changes, environment, message) => {
  const workshop = openWorkshop({ ...workspace, ...changes })
  onTestFinished(workshop.remove)
  mkdirSync(join(workshop.appFolder, 'linked'))
  symlinkSync('/etc/hostname', join(workshop.appFolder, 'linked/package.json'))
  const { code, log } = workshop.build('node', environment)
  expect([code, log.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(message)])
})

test('the log says that release does not run, unless the Application has a release job', () => {
  const files = { 'package.json': '{}', 'a.js': '', Procfile: 'web: node a.js\nrelease: node a.js\n' }
  const note = /^sekisho\/node: WARNING: the line release of the Procfile does not run by itself: set spec.releaseJob.command/m
  expect(built(files).log).toMatch(note)
  expect(built(files, application('.', { releaseJob: true })).log).not.toMatch(/WARNING/)
})

test('other buildpacks say that they build no workspaces', () => {
  const workshop = openWorkshop({ 'index.html': '' })
  onTestFinished(workshop.remove)
  expect(workshop.build('static', application('apps/api')).log).toMatch(
    /error: spec.build.root is for workspaces of npm, pnpm and yarn/,
  )
})

test('yarn runs from the file that yarnPath names, also for scripts, and says which packages stay', () => {
  const yarn =
    "console.log('yarn got', process.argv.slice(2).join(' ')); if (process.argv[2] === 'run') require('child_process').execSync('yarn from a script', { stdio: 'inherit' })"
  const { code, log, launch } = built({
    'package.json': '{"scripts":{"build":"x","start":"node server.js"},"devDependencies":{"once":"1.4.0"}}',
    'server.js': '',
    'yarn.lock': '__metadata:\n  version: 6\n',
    '.yarnrc.yml': 'yarnPath: .yarn/releases/yarn-3.6.4.cjs\n',
    '.yarn/releases/yarn-3.6.4.cjs': yarn,
  })
  expect([code, log]).toEqual([0, expect.any(String)])
  expect([...log.matchAll(/yarn got (.*)/g)].map(match => match[1])).toEqual([
    'install --immutable',
    'run build',
    'from a script',
  ])
  expect(log).toMatch(/packages of devDependencies stay in the image: yarn 2 and 3 remove .* plugin workspace-tools/)
  expect(launch).toContain('command = ["node","server.js"]')
})
