// Which package manager an app uses: by its lock file, `packageManager`, and the settings of yarn. The version is the one that
// wrote the lock file, where nothing else names one.
import { BuildFailure } from '../../shared/build-failure.ts'
import type { PackageDescription } from '../package-description.ts'
import { findLocks } from './lock-files.ts'
import { npm } from './npm.ts'
import type { ManagerFacts, PackageManager, ReadFile } from './package-manager.ts'
import { pnpm } from './pnpm.ts'
import { yarn } from './yarn.ts'

type Given = Pick<PackageDescription, 'packageManager'> & { readonly isWorkspace?: boolean }

/** @throws BuildFailure when the lock files contradict each other, cannot be read, or belong to a manager that is missing */
export function choosePackageManager(given: Given, read: ReadFile, exists: (path: string) => boolean): PackageManager {
  const locks = findLocks(read)
  const managers = new Set(locks.map(({ manager }) => manager))
  const { packageManager } = given
  const [named = '', version] = packageManager?.split('+')[0]?.split('@') ?? []
  if (managers.size > 1)
    throw new BuildFailure(
      `${locks.map(({ file }) => file).join(' and ')} contradict each other: keep the lock file of the package manager that you use`,
    )
  const [lock] = locks
  const name = lock?.manager ?? (named === '' ? (exists('pnpm-workspace.yaml') ? 'pnpm' : 'npm') : named)
  if (named !== '' && named !== name)
    throw new BuildFailure(
      `package.json: packageManager is ${packageManager}, and ${lock?.file} is of ${name}: remove one of the two`,
    )
  const facts: ManagerFacts = { isWorkspace: given.isWorkspace === true, read, exists, lock, version }
  if (name === 'npm') return npm(facts)
  if (name === 'pnpm') return pnpm(facts)
  if (name === 'yarn') return yarn(facts)
  throw new BuildFailure(
    `${lock?.file ?? `packageManager ${packageManager}`}: ${name} is not supported; use npm, pnpm or yarn, or a Dockerfile`,
  )
}
