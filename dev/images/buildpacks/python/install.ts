// Installs the packages of an app by the tool of its lock file, each as its documentation says for a deployment.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildContext } from '../shared/config.ts'
import { readTextFile } from '../shared/text-file.ts'
import { cacheLayer, emptyPackageFolder, isUnchanged, openPackageFolder, type PackageFolder } from './environment.ts'
import { planOf } from './plan.ts'
import { type Project, readProject } from './project.ts'
import { installItself, sayVersion } from './project-itself.ts'
import { installTool } from './tools.ts'

/**
 * Returns the folder of the environment. One that was made from requirements which name no other file is used again.
 * @throws BuildFailure whose message is for the app's owner
 */
export function installPackages(context: BuildContext, version: string): string {
  const { appFolder, environment, layersFolder, say } = context
  const pyproject = readTextFile(appFolder, 'pyproject.toml')
  const project = pyproject === undefined ? undefined : readProject(pyproject, environment)
  const { plan, notes } = planOf(path => isFilled(join(appFolder, path)), project)
  for (const note of notes) say(note)
  const packages = openPackageFolder(context)
  const requirements = plan.tool === 'pip' ? plan.requirements : undefined
  const text = requirements === undefined ? undefined : readTextFile(appFolder, requirements)
  const key = createHash('sha256')
    .update(JSON.stringify(['2', version, plan, text]))
    .digest('hex')
  // Requirements can name other files and local packages: then only pip knows what has changed.
  const isSelfContained = text !== undefined && !/^\s*(-|\.|.*(file:|@\s*\.))/m.test(text)
  if (isUnchanged(layersFolder, key) && isSelfContained) {
    say(`packages: the same ${requirements}, used again`)
    return packages.folder
  }
  emptyPackageFolder(packages)
  if (requirements !== undefined) pip(packages, ['-r', requirements])
  else if (plan.tool === 'pip') installProject(context, packages, project)
  else if (plan.tool === 'uv') installByUv(context, packages, project)
  else if (plan.tool === 'poetry') installByPoetry(context, packages, project, plan.isLocked)
  return packages.folder
}

function isFilled(path: string): boolean {
  return existsSync(path) && (!statSync(path).isFile() || statSync(path).size > 0 || !path.endsWith('.lock'))
}

function pipCommand({ folder }: PackageFolder, words: readonly string[]): readonly [string, ...string[]] {
  return ['python3', '-m', 'pip', '--python', join(folder, 'bin', 'python'), 'install', '--progress-bar=off', ...words]
}

function pip(packages: PackageFolder, words: readonly string[]): void {
  packages.run(pipCommand(packages, words))
}

/**
 * The dependencies first: they need no package of the project. Where only its build tool knows them, both at once.
 * Source: https://packaging.python.org/en/latest/specifications/pyproject-toml/#dependencies-optional-dependencies
 */
function installProject(context: BuildContext, packages: PackageFolder, project: Project | undefined): void {
  sayVersion(context, project)
  const listed = project?.dependencies
  if (listed === undefined) {
    installItself(context, packages, project, pipCommand(packages, ['.']))
    return
  }
  if (listed.length > 0) {
    const file = join(cacheLayer(context.layersFolder, 'pip'), 'dependencies.txt')
    writeFileSync(file, listed.map(line => `${line.replaceAll(/\s+/g, ' ')}\n`).join(''))
    pip(packages, ['-r', file])
  }
  installItself(context, packages, project, pipCommand(packages, ['--no-deps', '.']))
}

/** Source: https://docs.astral.sh/uv/concepts/projects/sync/ , https://docs.astral.sh/uv/reference/environment/ */
function installByUv(context: BuildContext, packages: PackageFolder, project: Project | undefined): void {
  const { environment, layersFolder } = context
  const uv = installTool(context, packages, 'uv', project?.uvVersion)
  const variables = {
    UV_PROJECT_ENVIRONMENT: packages.folder,
    UV_PYTHON: join(packages.folder, 'bin', 'python'),
    UV_PYTHON_DOWNLOADS: 'never',
    UV_CACHE_DIR: cacheLayer(layersFolder, 'uv-cache'),
    UV_LINK_MODE: 'copy',
    UV_COMPILE_BYTECODE: '1',
    UV_NO_PROGRESS: '1',
    ...(environment['PIP_INDEX_URL'] === undefined ? {} : { UV_DEFAULT_INDEX: environment['PIP_INDEX_URL'] }),
  }
  const sync = [uv, 'sync', '--locked', '--no-dev'] as const
  packages.run([...sync, '--no-install-project'], variables, output =>
    /lockfile at `?uv\.lock`? needs to be updated|needs to be updated, but `--locked`/.test(output)
      ? 'uv.lock does not agree with pyproject.toml: run "uv lock" and commit uv.lock'
      : /Failed to parse `?uv\.lock|TOML parse error/.test(output)
        ? 'uv.lock cannot be read: run "uv lock" and commit uv.lock'
        : undefined,
  )
  sayVersion(context, project)
  installItself(context, { ...packages, variables: { ...packages.variables, ...variables } }, project, sync)
}

/** Source: https://python-poetry.org/docs/cli/#install , https://python-poetry.org/docs/basic-usage/#operating-modes */
function installByPoetry(context: BuildContext, packages: PackageFolder, project: Project | undefined, isLocked: boolean): void {
  const { appFolder, environment, layersFolder } = context
  const poetry = installTool(context, packages, 'poetry')
  const cache = cacheLayer(layersFolder, 'poetry-cache')
  mkdirSync(cache, { recursive: true })
  const variables = {
    // As in an activated environment: Poetry then installs into it.
    VIRTUAL_ENV: packages.folder,
    PATH: `${join(packages.folder, 'bin')}:${environment['PATH'] ?? ''}`,
    POETRY_CACHE_DIR: cache,
    POETRY_VIRTUALENVS_CREATE: 'false',
    POETRY_NO_INTERACTION: '1',
    POETRY_REQUESTS_TIMEOUT: '60',
  }
  // Poetry takes an empty file for a broken one.
  if (!isLocked) rmSync(join(appFolder, 'poetry.lock'), { force: true })
  const install = [poetry, 'install', '--no-ansi'] as const
  packages.run([...install, '--only=main', '--no-root'], variables, output =>
    /changed significantly since poetry\.lock|poetry\.lock is not up to date/.test(output)
      ? 'poetry.lock does not agree with pyproject.toml: run "poetry lock" and commit poetry.lock'
      : undefined,
  )
  if (project?.isPoetryPackage !== true) return
  sayVersion(context, project)
  installItself(context, { ...packages, variables: { ...packages.variables, ...variables } }, project, [
    ...install,
    '--only-root',
  ])
}
