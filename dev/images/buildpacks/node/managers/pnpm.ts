// pnpm. Its workspaces are those of pnpm-workspace.yaml, never of package.json.
// Source: https://pnpm.io/workspaces, https://pnpm.io/cli/install, https://pnpm.io/cli/prune
import { BuildFailure } from '../../shared/build-failure.ts'
import { settingOf } from './lock-files.ts'
import type { ManagerFacts, PackageManager } from './package-manager.ts'

/** When nothing names another version: the newest that reads what the current one writes. */
const usual = '10'
/** The version of pnpm by that of the form of its lock file. https://github.com/pnpm/spec/tree/master/lockfile */
const writers: Readonly<Record<string, string>> = { '5.4': '7', '6.0': '8', '6.1': '8', '7.0': '9', '9.0': usual }

/** @throws BuildFailure when the lock file is of a version that no pnpm for this Node.js reads */
export function pnpm({ lock, version, read }: ManagerFacts): PackageManager {
  const settings = read('pnpm-workspace.yaml')
  // An empty file makes every folder with a package.json a package, before pnpm 10.
  const isWorkspace = settings?.trim() === '' || settingOf(settings, 'packages') !== undefined
  const locked = lock !== undefined
  return {
    name: 'pnpm',
    tool: { package: 'pnpm', version: version ?? writerOf(lock) },
    locked,
    isWorkspace,
    runsHooks: true,
    install: withDev => [
      'pnpm',
      'install',
      locked ? '--frozen-lockfile' : '--no-frozen-lockfile',
      withDev ? '--prod=false' : '--prod',
    ],
    run: script => ['pnpm', 'run', script],
    prune: isWorkspace
      ? pruneOfWorkspace(locked, isHoisted(settings, read))
      : { commands: [['pnpm', 'prune', '--prod', '--ignore-scripts']] },
    environment: cache => ({
      // Since pnpm 11 the prefix is its own.
      npm_config_store_dir: cache,
      pnpm_config_store_dir: cache,
      npm_config_update_notifier: 'false',
      // The version of the project is the one that was installed here.
      npm_config_manage_package_manager_versions: 'false',
      pnpm_config_pm_on_fail: 'ignore',
    }),
  }
}

/**
 * `pnpm prune` does not know workspaces. With links, packages stay where they are, with all that their scripts made; without
 * links they would be unpacked again, and lack it.
 */
function pruneOfWorkspace(locked: boolean, hoisted: boolean): PackageManager['prune'] {
  if (hoisted) return 'pnpm has no way to remove them in a workspace with nodeLinker: hoisted'
  const frozen = locked ? '--frozen-lockfile' : '--no-frozen-lockfile'
  return { unlink: true, commands: [['pnpm', 'install', frozen, '--prod', '--prefer-offline', '--ignore-scripts']] }
}

function isHoisted(settings: string | undefined, read: ManagerFacts['read']): boolean {
  return settingOf(settings, 'nodeLinker') === 'hoisted' || /^\s*node-linker\s*=\s*["']?hoisted/m.test(read('.npmrc') ?? '')
}

function writerOf(lock: ManagerFacts['lock']): string {
  if (lock === undefined) return usual
  const found = lock.version === undefined ? undefined : writers[lock.version.includes('.') ? lock.version : `${lock.version}.0`]
  if (found === undefined)
    throw new BuildFailure(
      `pnpm-lock.yaml has the version ${lock.version ?? 'none'}, which no pnpm for this Node.js reads: run "pnpm install" with pnpm ${usual} and commit pnpm-lock.yaml`,
    )
  // pnpm 10 writes these sums in another form, and refuses the former one in a frozen lock file.
  return /^(?:packageExtensionsChecksum|pnpmfileChecksum):\s*(?!sha256-)\S/m.test(lock.text) && found === usual ? '9' : found
}
