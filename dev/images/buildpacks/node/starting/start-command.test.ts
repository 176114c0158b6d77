// The processes of an app, from its scripts, its Procfile and its files.
import { expect, test } from 'vitest'
import { commandOf, launchDescription } from '../../shared/launch.ts'
import { parseProcfile, releaseNote } from '../../shared/procfile.ts'
import { findProcesses, type Startable } from './start-command.ts'

const noProcfile = new Map<string, string>()

function startable(changes: Partial<Startable> = {}): Startable {
  return {
    scripts: {},
    main: undefined,
    exists: () => false,
    hasProgram: () => false,
    runsHooks: true,
    isOfPage: () => false,
    ...changes,
  }
}

/** The command of `web`, as one line. */
function web(changes: Partial<Startable>, procfile = ''): string | undefined {
  const found = findProcesses(startable(changes), parseProcfile(procfile))
  return found?.find(({ type }) => type === 'web')?.command.join(' ')
}

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
  const found = findProcesses(startable({ scripts }), parseProcfile(text))
  expect(found?.map(({ type, command }) => [type, command.join(' ')])).toEqual(expected)
})

test.each(['vite', 'vite preview', 'react-scripts start', 'ng serve --open'])('%s is not a way to serve people', start => {
  expect(web({ scripts: { start } })).toBeUndefined()
})

test('without a start script, main comes before conventional names, and files must exist', () => {
  const main = 'app.js'
  expect(web({ main, exists: path => path === 'server.js' })).toBe('node server.js')
  expect(web({ main, exists: () => true })).toBe('node app.js')
  expect(web({})).toBeUndefined()
})

test.each([
  ['src/app', 'src/app.js', 'node src/app'],
  ['./lib', './lib/index.js', 'node ./lib'],
  ['index.html', 'index.html', undefined],
])('main %j with the file %s starts %j', (main, file, expected) => {
  expect(web({ main, exists: path => path === file })).toBe(expected)
})

test('a file that a page loads is a program for browsers', () => {
  const page = { main: 'index.js', exists: (path: string) => path === 'index.js', isOfPage: () => true }
  expect(web(page)).toBeUndefined()
})

const scripts = { start: 'yarn serve', serve: 'node s.js', hooked: 'node h.js', prehooked: 'tsc', env: 'A=b node e.js' }

test.each<[string, Partial<Startable>, string | undefined]>([
  ['pnpm serve', {}, 'node s.js'],
  ['pnpm run serve --port 80', {}, 'node s.js --port 80'],
  ['npm run serve -- --port 80', {}, 'node s.js --port 80'],
  ['yarn start', {}, 'node s.js'],
  ['yarn hooked', {}, 'npm run hooked'],
  ['yarn hooked', { runsHooks: false }, 'node h.js'],
  ['pnpm run env', {}, 'sh -c A=b node e.js'],
  ['A=b yarn serve', {}, 'sh -c A=b npm run serve'],
  ['yarn serve && pnpm run env', {}, 'sh -c npm run serve && npm run env'],
  ['yarn next start', { hasProgram: name => name === 'next' }, 'next start'],
  ['pnpm exec next start', { hasProgram: name => name === 'next' }, 'next start'],
  ['npm exec next start', { hasProgram: () => true }, 'npm exec next start'],
  ['yarn workspace api start', {}, 'yarn workspace api start'],
  ['pnpm --filter api start', {}, 'pnpm --filter api start'],
])('the line %j with %j starts %j', (line, changes, expected) => {
  expect(web({ scripts, ...changes }, `web: ${line}`)).toBe(expected)
})

test('npm start without a script is node server.js, as npm documents it', () => {
  expect(web({ exists: path => path === 'server.js' }, 'web: npm start')).toBe('node server.js')
})

test('a script that calls itself is named', () => {
  expect(() => web({ scripts: { start: 'npm run start' } })).toThrow('scripts.start calls itself')
})

test.each(['web node server.js', 'web:', 'we b: x'])('the Procfile line %j is refused by its number', line => {
  expect(() => parseProcfile(`# comment\n\n${line}`)).toThrow('Procfile, line 3')
})

test('a Procfile has a bound on its processes, and a million lines take one sentence', () => {
  expect(() => parseProcfile('a: x\n'.repeat(1_000_000))).not.toThrow()
  const many = Array.from({ length: 1_000_000 }, (_, index) => `p${index}: x`).join('\n')
  expect(() => parseProcfile(many)).toThrow('Procfile, line 22: an image has at most 20 processes beside release')
})

test('release is said to wait for the release job of the Application, and is never what an image starts by default', () => {
  const procfile = parseProcfile('release: node r.js\nworker: node w.js')
  expect(releaseNote(procfile, false)).toMatch(/^WARNING: the line release .* spec.releaseJob.command .*\/cnb\/process\/release/)
  expect(releaseNote(procfile, true)).toBeUndefined()
  expect(releaseNote(noProcfile, false)).toBeUndefined()
  const [release, worker] = findProcesses(startable(), procfile) ?? []
  if (release === undefined || worker === undefined) throw new Error('both are processes')
  expect(launchDescription([release, worker])).toMatch(/type = "worker"\ncommand = \["node","w.js"\]\ndefault = true/)
})
