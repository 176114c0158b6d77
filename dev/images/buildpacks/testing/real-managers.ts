// `node dev/images/buildpacks/testing/real-managers.ts [word]`: builds a workspace with every version of npm, pnpm and yarn that
// a lock file can name, as a whole and as one application, with the tools and packages of the registry. It needs the network and
// some minutes, so no suite plays it: run it after a change of the Node.js buildpack.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Files, type HostWorkshop, openWorkshop } from './run-on-host.ts'

type Tool = {
  /** As npx knows it. */
  readonly spec: string
  readonly lock: readonly string[]
  /** What an application writes for a package of the workspace. */
  readonly own: string
  readonly keepsDevelopment?: boolean
}

const pnpm = (version: string): Tool => ({
  spec: `pnpm@${version}`,
  lock: ['pnpm', 'install', '--lockfile-only'],
  own: 'workspace:*',
})
const berry = (version: string): Tool => ({
  spec: `@yarnpkg/cli-dist@${version}`,
  lock: ['yarn', 'install'],
  own: 'workspace:*',
  keepsDevelopment: version.startsWith('3'),
})
const tools: readonly Tool[] = [
  { spec: 'npm@11', lock: ['npm', 'install', '--package-lock-only'], own: '1.0.0' },
  { spec: 'npm@11', lock: ['npm', 'install', '--package-lock-only', '--lockfile-version=1'], own: '1.0.0' },
  ...['7', '8', '9', '10', '11', '12'].map(pnpm),
  { spec: 'yarn@1', lock: ['yarn', 'install', '--ignore-scripts'], own: '1.0.0' },
  ...['3.1.1', '3.8.7', '4.9.4', '4.14.1', '4'].map(berry),
]

/** `ms` runs in production, `once` builds, `semver` is a program of the development. */
function workspace({ spec, own }: Tool): Files {
  const json = JSON.stringify
  const isPnpm = spec.startsWith('pnpm')
  return {
    'package.json': json({
      private: true,
      ...(isPnpm ? {} : { workspaces: ['packages/*', '!packages/old'] }),
      scripts: { build: 'node -e "require(\'once\')"', start: 'node packages/api/server.js' },
      devDependencies: { once: '1.4.0' },
    }),
    ...(isPnpm ? { 'pnpm-workspace.yaml': 'packages:\n  - packages/*\n  - "!packages/old"\n' } : {}),
    ...(spec.includes('cli-dist') ? { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' } : {}),
    'packages/api/package.json': json({
      name: 'api',
      version: '1.0.0',
      scripts: { build: 'semver 1.2.3 && node -e "require(\'shared\')"', start: 'node server' },
      dependencies: { ms: '2.1.3', shared: own },
      devDependencies: { semver: '7.6.3' },
    }),
    'packages/api/server.js': 'require("ms"); require("shared")',
    'packages/shared/package.json': json({
      name: 'shared',
      version: '1.0.0',
      main: 'built.js',
      scripts: { build: 'node -e "fs.writeFileSync(\'built.js\', \'require(\\"isarray\\")\')"' },
      dependencies: { isarray: '2.0.5' },
    }),
  }
}

/** Undefined when all is well. */
function wrongWith(tool: Tool, folder: string): string | undefined {
  const workshop = openWorkshop(workspace(tool))
  try {
    const locked = lock(workshop, tool)
    if (locked !== undefined) return locked
    // A build of the whole does not build packages by itself.
    if (folder === '.') workshop.write({ 'packages/shared/built.js': 'require("isarray")' })
    const { code, log, launch } = workshop.build('node', { BP_APPLICATION_FOLDER: folder })
    if (code !== 0) return log.slice(-2000)
    const place = join(workshop.appFolder, folder)
    const command = /command = (\[.*\])/.exec(launch)?.[1] ?? '[]'
    const [program = 'false', ...parameters] = JSON.parse(command) as string[]
    const start = spawnSync(program, parameters, { cwd: place, encoding: 'utf8' })
    if (start.status !== 0) return `${command} does not start: ${start.stderr.slice(-1000)}`
    const kept = ['node_modules/once', 'node_modules/semver', 'packages/api/node_modules/semver'].filter(path =>
      existsSync(join(workshop.appFolder, path)),
    )
    if (tool.keepsDevelopment === true) return log.includes('stay in the image') ? undefined : 'nothing says that packages stay'
    return kept.length === 0 ? undefined : `still there: ${kept.join(', ')}`
  } finally {
    workshop.remove()
  }
}

function lock({ appFolder }: HostWorkshop, { spec, lock: command }: Tool): string | undefined {
  const tools = mkdtempSync(join(tmpdir(), 'sekisho-tool-'))
  try {
    // biome-ignore lint/style/noProcessEnv: npx and the tools need the machine's
    const env = { ...process.env, CI: '', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false', YARN_ENABLE_TELEMETRY: '0' }
    const install = spawnSync('npm', ['install', '--silent', '--ignore-scripts', '--prefix', tools, spec], {
      env,
      encoding: 'utf8',
    })
    const [program = '', ...parameters] = command
    const path = join(tools, 'node_modules', '.bin', program)
    const made = spawnSync(path, parameters, { cwd: appFolder, env, encoding: 'utf8' })
    spawnSync('sh', ['-c', 'rm -rf node_modules packages/*/node_modules .yarn'], { cwd: appFolder })
    return made.status === 0
      ? undefined
      : `no lock file by ${spec}: ${install.stderr}${made.stdout.slice(-500)}${made.stderr.slice(-500)}`
  } finally {
    rmSync(tools, { recursive: true, force: true })
  }
}

const [, , word = ''] = process.argv
let failed = 0
for (const tool of tools.filter(({ spec }) => spec.includes(word)))
  for (const folder of ['.', 'packages/api']) {
    const wrong = wrongWith(tool, folder)
    if (wrong !== undefined) failed += 1
    console.log(
      `${wrong === undefined ? 'ok    ' : 'FAILED'} ${tool.spec} (${tool.lock.join(' ')}), ${folder === '.' ? 'the whole' : folder}`,
    )
    if (wrong !== undefined) console.log(wrong.replaceAll(/^/gm, '       '))
  }
process.exitCode = failed === 0 ? 0 : 1
