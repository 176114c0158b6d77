// The project of an app as a package of its own environment. An app runs from its folder, so a project that its build tool cannot
// package is left out with a line of the log, unless its programs are needed.
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext, Environment } from '../shared/config.ts'
import { registryFailure } from '../shared/registry-failure.ts'
import { runLogged } from '../shared/run-logged.ts'
import type { PackageFolder } from './environment.ts'
import type { Project } from './project.ts'

const pretended = '0.0.0'

/**
 * The variables by which tools that read the version from git's history take one that they are told; what the build sets itself
 * counts. Source: https://setuptools-scm.readthedocs.io/en/latest/overrides/ , https://docs.openstack.org/pbr/latest/user/packagers.html ,
 * https://backend.pdm-project.org/metadata/ , https://github.com/mtkennerly/poetry-dynamic-versioning
 */
export function versionVariables({ name, versionFromGit }: Project, environment: Environment): Readonly<Record<string, string>> {
  if (versionFromGit.length === 0) return {}
  const suffix = name === undefined ? '' : `_FOR_${name.replaceAll(/[-_.]+/g, '_').toUpperCase()}`
  const names = [
    `SETUPTOOLS_SCM_PRETEND_VERSION${suffix}`,
    'PBR_VERSION',
    'PDM_BUILD_SCM_VERSION',
    'POETRY_DYNAMIC_VERSIONING_BYPASS',
  ]
  const given = environment['SETUPTOOLS_SCM_PRETEND_VERSION'] ?? pretended
  return Object.fromEntries(names.map(variable => [variable, environment[variable] ?? given]))
}

/** Says what the version is, where git would say it. */
export function sayVersion({ say, environment }: BuildContext, project: Project | undefined): void {
  const [first] = project?.versionFromGit ?? []
  if (project === undefined || first === undefined) return
  const [variable = '', version] = Object.entries(versionVariables(project, environment))[0] ?? []
  say(
    `${first} reads the version from the history of git, which a build does not have: ${version} (set ${variable} in spec.build.env for another)`,
  )
}

/** @throws BuildFailure when it cannot be installed and has programs, or when another error is the reason */
export function installItself(
  { appFolder, say, environment }: BuildContext,
  packages: PackageFolder,
  project: Project | undefined,
  command: readonly [string, ...string[]],
): void {
  say(command.join(' '))
  const more = project === undefined ? {} : versionVariables(project, environment)
  const { code, output } = runLogged({ command, folder: appFolder, environment: { ...packages.variables, ...more } })
  if (code === 0) return
  const problem = notAPackage(output)
  if (problem === undefined)
    throw new BuildFailure(
      versionProblem(output) ?? registryFailure(output) ?? `${command.join(' ')} failed with exit code ${code}`,
    )
  const [script] = project?.scripts ?? []
  if (script !== undefined) throw new BuildFailure(`the program ${script} of pyproject.toml cannot be installed: ${problem}`)
  say(`the project itself is not installed, only its dependencies: ${problem}; the app runs from its folder`)
}

/** Pure. Of setuptools, hatchling, flit and Poetry: the folder has another form than a package. */
export function notAPackage(output: string): string | undefined {
  const several = /Multiple top-level (packages|modules) discovered in a flat-layout: \[(.{0,200}?)\]/.exec(output)
  if (several !== null)
    return `setuptools finds several top-level ${several[1]} (${several[2]?.replaceAll("'", '')}): list those of the project in tool.setuptools.packages`
  if (/Unable to determine which files to ship inside the wheel/.test(output))
    return 'hatchling finds no folder with the name of the project: list its folders in tool.hatch.build.targets.wheel.packages'
  if (/No file\/folder found for package/.test(output))
    return 'Poetry finds no folder with the name of the project: set tool.poetry.packages, or package-mode = false'
  if (/No module or package .* found|No file\/folder found for module/.test(output))
    return 'flit finds no module with the name of the project'
  return undefined
}

function versionProblem(output: string): string | undefined {
  return /setuptools-scm was unable to detect version|Versioning for this project requires either an sdist tarball|unable to detect version for/i.test(
    output,
  )
    ? 'the version comes from the history of git, which a build does not have: set SETUPTOOLS_SCM_PRETEND_VERSION in spec.build.env'
    : undefined
}
