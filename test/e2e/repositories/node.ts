// Repositories of Node.js: how packages are installed, built and pruned, and what `start` names.
import { pnpmLock, yarn3Lock } from './lock-files.ts'
import { buildFails, doesNotRun, json, nodeServer, type Repository, served } from './repository.ts'

const start = { start: 'node server.js' }

const typescript: Repository = {
  what: 'TypeScript, whose compiler is a development package',
  name: 'repo-typescript',
  files: {
    'package.json': json({
      name: 'ts',
      scripts: { build: 'tsc', start: 'node dist/server.js' },
      devDependencies: { typescript: '5.9.3' },
    }),
    'tsconfig.json': json({
      compilerOptions: { outDir: 'dist', module: 'commonjs', types: [], lib: ['es2022'] },
      include: ['src'],
    }),
    'src/server.ts': `declare function require(name: string): any\ndeclare const process: any\nconst text: string = 'typed'\nrequire('node:http').createServer((_: unknown, response: any) => response.end(text)).listen(Number(process.env.PORT))\n`,
  },
  becomes: served('typed'),
  maxSeconds: 62,
}

const workspace = {
  'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
  'pnpm-lock.yaml': pnpmLock,
  'packages/api/package.json': json({
    name: 'api',
    version: '1.0.0',
    scripts: { build: 'node -e 0', ...start },
    dependencies: { ms: '2.1.3' },
  }),
  'packages/api/server.js': `const ms = require('ms')\n${nodeServer("String(ms('2 days'))")}`,
}
const root = {
  name: 'root',
  private: true,
  packageManager: 'pnpm@10.34.8',
  devDependencies: { once: '1.4.0' },
}

const pnpm: readonly Repository[] = [
  {
    what: 'a workspace of pnpm that is started from its root: its packages keep what they need',
    name: 'repo-pnpm-root',
    files: {
      ...workspace,
      'package.json': json({ ...root, scripts: { build: 'pnpm -r build', start: 'node packages/api/server.js' } }),
    },
    becomes: served('172800000'),
    maxSeconds: 60,
  },
  {
    what: 'one application of a workspace of pnpm',
    name: 'repo-pnpm-one',
    files: { ...workspace, 'package.json': json(root) },
    subPath: 'packages/api',
    remoteSync: { build: { root: 'repo-pnpm-one', timeoutSeconds: 300 } },
    becomes: served('172800000'),
    maxSeconds: 60,
  },
  {
    what: 'a workspace of pnpm whose Application names the command',
    name: 'repo-pnpm-command',
    files: { ...workspace, 'package.json': json(root) },
    application: {
      processes: [{ name: 'web', port: 3000, cpu: '10m', memory: '128Mi', command: ['node', 'packages/api/server.js'] }],
    },
    becomes: served('172800000'),
    maxSeconds: 60,
  },
]

const starting: readonly Repository[] = [
  {
    what: 'a program of start that only the development has',
    name: 'repo-dev-program',
    files: {
      'package.json': json({
        scripts: { build: 'node -e 0', start: 'semver 1.2.3' },
        devDependencies: { semver: '7.6.3' },
      }),
    },
    becomes: buildFails(/semver.*devDependencies|devDependencies.*semver/),
    maxSeconds: 40,
  },
  {
    what: 'an entry without its extension',
    name: 'repo-main',
    files: { 'package.json': json({ main: 'src/app' }), 'src/app.js': nodeServer("'from main'") },
    becomes: served('from main'),
    maxSeconds: 30,
  },
  {
    what: 'a static site with a package.json for tools',
    name: 'repo-tools',
    files: {
      'package.json': json({ private: true, scripts: { format: 'prettier .' } }),
      'index.html': '<title>no program</title>',
    },
    becomes: served('no program'),
    maxSeconds: 30,
  },
  {
    what: 'yarn 3, which prunes with a plugin only',
    name: 'repo-yarn-3',
    files: {
      'package.json': json({
        name: 'shop',
        private: true,
        packageManager: 'yarn@3.6.4',
        scripts: { build: 'node -e 0', ...start },
        dependencies: { ms: '2.1.3' },
        devDependencies: { once: '1.4.0' },
      }),
      '.yarnrc.yml': 'nodeLinker: node-modules\n',
      'yarn.lock': yarn3Lock,
      'server.js': `const ms = require('ms')\n${nodeServer("String(ms('1 day'))")}`,
    },
    becomes: served('86400000'),
    maxSeconds: 50,
  },
  {
    what: 'a variable of the build with dollar signs, and one of the run',
    name: 'repo-dollars',
    files: {
      'package.json': json({
        scripts: { build: `node -e "fs.writeFileSync('built.txt', process.env.BUILT)"`, ...start },
      }),
      'server.js': nodeServer("require('node:fs').readFileSync('built.txt', 'utf8') + ' ' + process.env.RUN"),
    },
    remoteSync: { build: { timeoutSeconds: 300, env: [{ name: 'BUILT', value: 'pa$$word $(HOME)' }] } },
    application: {
      processes: [{ name: 'web', port: 3000, cpu: '10m', memory: '128Mi' }],
      env: [{ name: 'RUN', value: '$$2a$$12 $(PORT)' }],
    },
    becomes: served('pa$$word $(HOME) $$2a$$12 $(PORT)'),
    maxSeconds: 30,
  },
]

const running: readonly Repository[] = [
  {
    what: 'a Procfile with web, worker and release',
    name: 'repo-procfile',
    files: {
      Procfile: 'web: node server.js\nworker: node worker.js\nrelease: node release.js\n',
      'package.json': '{}',
      'server.js': nodeServer("'web of a Procfile'"),
      'worker.js': 'setInterval(() => {}, 60_000)\n',
      'release.js': 'console.log("migrated")\n',
    },
    application: {
      processes: [
        { name: 'web', port: 3000, cpu: '10m', memory: '128Mi' },
        { name: 'worker', cpu: '10m', memory: '128Mi' },
      ],
    },
    becomes: served('web of a Procfile'),
    maxSeconds: 34,
  },
  {
    what: '20 s until it answers',
    name: 'repo-slow-start',
    files: {
      'package.json': json({ scripts: start }),
      'server.js': `setTimeout(() => {\n${nodeServer("'slow'")}}, 20_000)\n`,
    },
    becomes: served('slow'),
    maxSeconds: 80,
  },
  {
    what: 'only the address of its own pod',
    name: 'repo-loopback',
    files: {
      'package.json': json({ scripts: start }),
      'server.js': `require('node:http').createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')\n`,
    },
    becomes: doesNotRun('NotAnsweringYet', /0\.0\.0\.0/),
    maxSeconds: 90,
  },
  {
    what: 'files beside its code',
    name: 'repo-read-only',
    files: {
      'package.json': json({ scripts: start }),
      'server.js': `require('node:fs').mkdirSync('.next/cache', { recursive: true })\n${nodeServer("'never'")}`,
    },
    becomes: doesNotRun('Crashing', /read-only/),
    maxSeconds: 90,
  },
  {
    what: 'a build that takes more memory than it may',
    name: 'repo-memory',
    files: {
      'package.json': json({ scripts: { build: 'node build.js', ...start } }),
      'build.js': 'const kept = []\nfor (;;) kept.push(Buffer.alloc(64 << 20, 1))\n',
      'server.js': '',
    },
    remoteSync: { build: { timeoutSeconds: 300, resources: { memory: '512Mi' } } },
    becomes: buildFails(/memory.*spec\.build\.resources\.memory/),
    maxSeconds: 40,
  },
]

export const nodeRepositories: readonly Repository[] = [typescript, ...pnpm, ...starting, ...running]
