// Installs the packages of an app by the tool of its lock file, each as its documentation says for a deployment.
import { createHash } from 'node:crypto'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import type { BuildContext } from '../shared/config.ts'
import { cacheLayer, emptyPackageFolder, isUnchanged, openPackageFolder, type PackageFolder, pipCommand } from './environment.ts'
import { installByPoetry } from './install-poetry.ts'
import { installByUv } from './install-uv.ts'
import { planOf } from './plan.ts'
import { type Project, readProject } from './project.ts'
import { installItself, sayVersion } from './project-itself.ts'

/**
 * Returns the folder of the environment. One that was made from requirements which name no other file is used again.
 * @throws BuildFailure whose message is for the app's owner
 */
export function installPackages(context: BuildContext, version: string): string {
  const { appFolder, environment, layersFolder, say } = context
  const pyproject = openAppFiles(appFolder).read('pyproject.toml')
  const project = pyproject === undefined ? undefined : readProject(pyproject, environment)
  const { plan, notes } = planOf(path => isFilled(join(appFolder, path)), project)
  for (const note of notes) say(note)
  const packages = openPackageFolder(context)
  const requirements = plan.tool === 'pip' ? plan.requirements : undefined
  const text = requirements === undefined ? undefined : openAppFiles(appFolder).read(requirements)
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
