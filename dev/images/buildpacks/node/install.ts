// Installs the packages of an app, runs its build script, and removes what only the build needed.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext, Environment } from '../shared/config.ts'
import { runProgram } from '../shared/run-program.ts'
import { type BuildStep, buildSteps, installScripts } from './build-steps.ts'
import type { Command, PackageManager } from './managers/package-manager.ts'
import { findPackage, moduleFolders } from './packages.ts'
import type { NodeApp } from './read-app.ts'
import { withTool } from './tool.ts'

/** `beforePrune`: called when the packages of the development are still there. */
export function installAndBuild(context: BuildContext, app: NodeApp, beforePrune: () => void): void {
  const { appFolder, layersFolder, say } = context
  const { manager, root, own, folder, files } = app
  const cache = join(layersFolder, 'packages')
  mkdirSync(cache, { recursive: true })
  writeFileSync(`${cache}.toml`, '[types]\ncache = true\n')
  const environment: Environment = { ...context.environment, ...manager.environment(cache), ...withTool(context, manager) }
  const run = (command: Command, { folder: place = '.', variables = {} }: RunOptions = {}): void => {
    say(`${command.join(' ')}${place === '.' ? '' : ` (in ${place})`}`)
    runProgram({ command, folder: join(appFolder, place), environment: { ...environment, ...variables } })
  }

  for (const variable of missingVariables(files, context.environment))
    say(`.npmrc refers to \${${variable}}, which is not a variable of this build`)
  const isBuilt = app.script !== undefined || folder !== '.'
  const descriptions = [root, own]
  const hasDev = manager.isWorkspace || descriptions.some(({ devDependencies }) => Object.keys(devDependencies).length > 0)
  const needsDev = hasDev && (isBuilt || installScripts.some(name => root.scripts[name] !== undefined))
  const hasPackages =
    manager.isWorkspace ||
    descriptions.some(({ dependencies, optional }) => Object.keys({ ...dependencies, ...optional }).length > 0)
  if (hasPackages || needsDev) {
    if (!manager.locked) say('there is no lock file, so the versions may change with every build: commit one')
    run(manager.install(needsDev))
  }
  demandDependencies(app)
  // What the build script makes may hold folders of the same name, which are its own.
  const installed = moduleFolders(appFolder)
  // Programs of the root, such as turbo, for scripts of every package: pnpm puts only those of the package itself there.
  const variables = {
    NODE_ENV: environment['NODE_ENV'] ?? 'production',
    PATH: `${join(appFolder, 'node_modules', '.bin')}:${environment['PATH'] ?? ''}`,
  }
  for (const step of stepsOf(app, say)) run(manager.run(step.script), { folder: step.folder, variables })
  beforePrune()
  if (needsDev) prune({ context, manager, installed, run })
  demandDependencies(app)
}

type RunOptions = { readonly folder?: string; readonly variables?: Readonly<Record<string, string>> }

function stepsOf({ folder, files, script }: NodeApp, say: (line: string) => void): readonly BuildStep[] {
  return folder === '.' ? (script === undefined ? [] : [{ folder, script }]) : buildSteps(files, folder, say)
}

type Pruned = {
  readonly context: BuildContext
  readonly manager: PackageManager
  /** The folders node_modules of the install. */
  readonly installed: readonly string[]
  readonly run: (command: Command) => void
}

function prune({ context: { say }, manager, installed, run }: Pruned): void {
  if (typeof manager.prune === 'string') {
    say(`packages of devDependencies stay in the image: ${manager.prune}`)
    return
  }
  if (manager.prune.unlink === true) for (const folder of installed) unlinkPackages(folder)
  for (const command of manager.prune.commands) run(command)
}

/** What pnpm keeps of packages and of what they built stays in its own folder, whose links are made again. */
function unlinkPackages(folder: string): void {
  for (const name of readdirSync(folder)) if (name !== '.pnpm') rmSync(join(folder, name), { recursive: true, force: true })
}

/** A folder that is not among the packages of the workspace has nothing installed, and no error says so. */
function demandDependencies({ files, folder, own }: NodeApp): void {
  if (folder === '.') return
  const missing = Object.keys(own.dependencies).find(
    name => own.optional[name] === undefined && findPackage(files, folder, name) === undefined,
  )
  if (missing === undefined) return
  throw new BuildFailure(
    `${folder}/package.json: the package ${missing} was not installed: is ${folder} one of the workspaces (pnpm: packages in pnpm-workspace.yaml; npm and yarn: workspaces in package.json)?`,
  )
}

/** Names in .npmrc that npm leaves as they are, so that a registry refuses the text as a token. */
function missingVariables(files: AppFiles, environment: Environment): readonly string[] {
  const names = [...(files.read('.npmrc') ?? '').matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  return [...new Set(names)].filter(name => environment[name] === undefined)
}
