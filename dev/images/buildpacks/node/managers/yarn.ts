// yarn 1, and yarn 2 and later, which is another program with a lock file of its own.
import { BuildFailure } from '../../shared/build-failure.ts'
import { settingOf } from './lock-files.ts'
import type { ManagerFacts, PackageManager } from './package-manager.ts'

/**
 * The last versions of yarn that write each form of its lock file: a later one would change it, which `--immutable` refuses. What
 * is newer is of the newest.
 */
const writers: Readonly<Record<string, string>> = {
  '4': '2',
  '5': '~3.1.0',
  '6': '3',
  '7': '~4.13.0',
  '8': '~4.13.0',
  '9': '~4.14.0',
}
const usual = '4'

/** @throws BuildFailure when the lock file is of the other yarn than the named version */
export function yarn(facts: ManagerFacts): PackageManager {
  const { lock, read, exists } = facts
  const settings = read('.yarnrc.yml')
  const path = settingOf(settings, 'yarnPath')
  const named = path === undefined ? facts.version : (versionIn(path) ?? facts.version)
  const isModern = named === undefined ? isModernLock(facts) || settings !== undefined : !/^[01](?:\.|$)/.test(named)
  if (named !== undefined && contradicts(facts, isModern))
    throw new BuildFailure(
      `yarn.lock was written by yarn ${isModern ? '1' : '2 or later'}, and the version of yarn is ${named} (${path === undefined ? 'packageManager in package.json' : 'yarnPath in .yarnrc.yml'}): run "yarn install" with that version and commit yarn.lock`,
    )
  if (!isModern) return yarnClassic(facts, named ?? '1')
  return yarnModern(facts, named ?? writerOf(lock), path !== undefined && exists(path) ? path : undefined)
}

function versionIn(path: string): string | undefined {
  return /yarn-(\d[\w.-]*?)\.c?js$/.exec(path)?.[1]
}

function writerOf(lock: ManagerFacts['lock']): string {
  return writers[lock?.version ?? ''] ?? usual
}

function contradicts(facts: ManagerFacts, isModern: boolean): boolean {
  return facts.lock !== undefined && facts.lock.text.trim() !== '' && isModern !== isModernLock(facts)
}

function isModernLock({ lock }: ManagerFacts): boolean {
  return lock?.version !== undefined
}

/** Source: https://classic.yarnpkg.com/lang/en/docs/cli/install */
function yarnClassic({ lock, isWorkspace }: ManagerFacts, version: string): PackageManager {
  const frozen = lock === undefined ? [] : ['--frozen-lockfile']
  return {
    name: 'yarn',
    tool: { package: 'yarn', version },
    locked: lock !== undefined,
    isWorkspace,
    runsHooks: true,
    install: withDev => ['yarn', 'install', '--non-interactive', ...frozen, `--production=${!withDev}`],
    run: script => ['yarn', 'run', script],
    prune: {
      commands: [
        ['yarn', 'install', '--non-interactive', ...frozen, '--production=true', '--ignore-scripts', '--prefer-offline'],
      ],
    },
    environment: cache => ({ YARN_CACHE_FOLDER: cache }),
  }
}

/**
 * With a folder node_modules: programs then start by plain `node`. `file`: the program in the repository. Only a plugin has
 * `workspaces focus` before yarn 4. Source: https://yarnpkg.com/configuration/yarnrc, https://yarnpkg.com/cli/workspaces/focus
 */
function yarnModern({ lock, isWorkspace, read }: ManagerFacts, version: string, file: string | undefined): PackageManager {
  const canFocus = Number(/\d+/.exec(version)?.[0]) >= 4 || /plugin-workspace-tools/.test(read('.yarnrc.yml') ?? '')
  return {
    name: 'yarn',
    tool: file === undefined ? toolOf(version) : { file },
    locked: lock !== undefined,
    isWorkspace,
    runsHooks: false,
    install: () => ['yarn', 'install', lock === undefined ? '--no-immutable' : '--immutable'],
    run: script => ['yarn', 'run', script],
    prune: canFocus
      ? { commands: [['yarn', 'workspaces', 'focus', '--all', '--production']] }
      : 'yarn 2 and 3 remove devDependencies only with the plugin workspace-tools ("yarn plugin import workspace-tools"), or use yarn 4',
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

/** The last yarn 2 is in the registry under the name of yarn 1 only. */
function toolOf(version: string): { readonly package: string; readonly version: string } {
  return { package: version === '2.4.3' ? 'yarn' : '@yarnpkg/cli-dist', version }
}
