// What a build needs to know of a package manager, and what that follows from.
import type { Lock } from './lock-files.ts'

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
