// Which package manager an app uses, by its lock file, and the commands of a build with it. Pure, except for looking which
// files there are.
import { BuildFailure } from '../shared/build-failure.ts'
import type { PackageDescription } from './package-description.ts'

type Command = readonly [string, ...string[]]

export type PackageManager = {
  readonly name: 'npm' | 'pnpm' | 'yarn'
  /** The package of the registry with its program; undefined for npm, which the image has. */
  readonly tool: { readonly package: string; readonly version: string } | undefined
  readonly locked: boolean
  readonly install: (withDev: boolean) => Command
  readonly run: (script: string) => Command
  readonly prune: readonly Command[]
  /** What it reads beside the environment of the build. `cache` is a folder that the next build finds again. */
  readonly environment: (cache: string) => Readonly<Record<string, string>>
}

const lockFiles = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'deno.lock': 'deno',
} as const

/**
 * `exists` takes paths relative to the app.
 * @throws BuildFailure when the lock files contradict each other or belong to a manager that is missing
 */
export function choosePackageManager(
  { packageManager }: Pick<PackageDescription, 'packageManager'>,
  exists: (path: string) => boolean,
): PackageManager {
  const found = Object.entries(lockFiles).filter(([file]) => exists(file))
  const managers = new Set(found.map(([, manager]) => manager))
  const [named = '', version] = packageManager?.split('+')[0]?.split('@') ?? []
  if (managers.size > 1)
    throw new BuildFailure(
      `${found.map(([file]) => file).join(' and ')} contradict each other: keep the lock file of the package manager that you use`,
    )
  const name = found[0]?.[1] ?? (named === '' ? 'npm' : named)
  if (named !== '' && named !== name)
    throw new BuildFailure(
      `package.json: packageManager is ${packageManager}, and ${found[0]?.[0]} is of ${name}: remove one of the two`,
    )
  const locked = found.length > 0
  if (name === 'npm') return npm(locked, exists('npm-shrinkwrap.json') || exists('package-lock.json'))
  if (name === 'pnpm') return pnpm(locked, version)
  if (name === 'yarn')
    return exists('.yarnrc.yml') || /^[2-9]/.test(version ?? '') ? yarnModern(locked, version) : yarnClassic(locked, version)
  throw new BuildFailure(
    `${found[0]?.[0] ?? `packageManager ${packageManager}`}: ${name} is not supported; use npm, pnpm or yarn, or a Dockerfile`,
  )
}

function npm(locked: boolean, clean: boolean): PackageManager {
  return {
    name: 'npm',
    tool: undefined,
    locked,
    install: withDev => ['npm', clean ? 'ci' : 'install', withDev ? '--include=dev' : '--omit=dev'],
    run: script => ['npm', 'run', script],
    prune: [['npm', 'prune', '--omit=dev', '--ignore-scripts']],
    environment: cache => ({
      npm_config_cache: cache,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      npm_config_prefer_offline: 'true',
      npm_config_logs_max: '0',
    }),
  }
}

/** Source: https://pnpm.io/cli/install, https://pnpm.io/cli/prune */
function pnpm(locked: boolean, version = '10'): PackageManager {
  return {
    name: 'pnpm',
    tool: { package: 'pnpm', version },
    locked,
    install: withDev => [
      'pnpm',
      'install',
      locked ? '--frozen-lockfile' : '--no-frozen-lockfile',
      withDev ? '--prod=false' : '--prod',
    ],
    run: script => ['pnpm', 'run', script],
    prune: [['pnpm', 'prune', '--prod', '--ignore-scripts']],
    environment: cache => ({ npm_config_store_dir: cache, npm_config_update_notifier: 'false' }),
  }
}

/** Source: https://classic.yarnpkg.com/lang/en/docs/cli/install */
function yarnClassic(locked: boolean, version = '1'): PackageManager {
  const frozen = locked ? ['--frozen-lockfile'] : []
  return {
    name: 'yarn',
    tool: { package: 'yarn', version },
    locked,
    install: withDev => ['yarn', 'install', '--non-interactive', ...frozen, `--production=${!withDev}`],
    run: script => ['yarn', 'run', script],
    prune: [['yarn', 'install', '--non-interactive', ...frozen, '--production=true', '--ignore-scripts', '--prefer-offline']],
    environment: cache => ({ YARN_CACHE_FOLDER: cache }),
  }
}

/** With a folder node_modules: programs then start by plain `node`. Source: https://yarnpkg.com/configuration/yarnrc */
function yarnModern(locked: boolean, version = '4'): PackageManager {
  return {
    name: 'yarn',
    tool: { package: '@yarnpkg/cli-dist', version },
    locked,
    install: () => ['yarn', 'install', locked ? '--immutable' : '--no-immutable'],
    run: script => ['yarn', 'run', script],
    prune: [['yarn', 'workspaces', 'focus', '--all', '--production']],
    environment: cache => ({
      YARN_NODE_LINKER: 'node-modules',
      YARN_ENABLE_GLOBAL_CACHE: 'false',
      YARN_CACHE_FOLDER: cache,
      YARN_ENABLE_TELEMETRY: 'false',
      // The version of the project is the one that was installed here.
      YARN_IGNORE_PATH: '1',
    }),
  }
}
