// What a build needs to know of a package manager, and which one an app uses: by its lock file, `packageManager`, and the
// settings of yarn. The version is the one that wrote the lock file, where nothing else names one.
import { BuildFailure } from '../../shared/build-failure.ts'
import type { PackageDescription } from '../package-description.ts'
import { findLocks, type Lock } from './lock-files.ts'
import { npm } from './npm.ts'
import { pnpm } from './pnpm.ts'
import { yarn } from './yarn.ts'

export type Command = readonly [string, ...string[]]

export type PackageManager = {
  readonly name: 'npm' | 'pnpm' | 'yarn'
  /**
   * Where its program comes from: the image, the registry, or a file of the repository that `.yarnrc.yml` names (relative to the
   * app).
   */
  readonly tool: { readonly package: string; readonly version: string } | { readonly file: string } | undefined
  readonly locked: boolean
  /** Whether other packages of the repository are installed with the app. */
  readonly isWorkspace: boolean
  /** Whether it runs the scripts `pre…` and `post…` around a script of the app. */
  readonly runsHooks: boolean
  readonly install: (withDev: boolean) => Command
  readonly run: (script: string) => Command
  /** How the packages go that only the build needed. A text: they stay, because of this. */
  readonly prune: Prune | string
  /** What it reads beside the environment of the build. `cache` is a folder that the next build finds again. */
  readonly environment: (cache: string) => Readonly<Record<string, string>>
}

/** `unlink`: before the commands, what node_modules of the app and of the packages of its workspace name is removed. */
export type Prune = { readonly commands: readonly Command[]; readonly unlink?: boolean }

/** What the choice follows from: the text of a file of the app by its path. */
export type ReadFile = (path: string, limit?: number) => string | undefined

export type ManagerFacts = {
  /** Whether package.json names workspaces. */
  readonly isWorkspace: boolean
  readonly read: ReadFile
  readonly exists: (path: string) => boolean
  /** The lock file; undefined when there is none. */
  readonly lock: Lock | undefined
  /** The version of `packageManager`, without its hash. */
  readonly version: string | undefined
}

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
