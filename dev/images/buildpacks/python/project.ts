// What pyproject.toml says that a build needs, read by Python's own parser.
import { execFileSync } from 'node:child_process'
import { BuildFailure } from '../shared/build-failure.ts'
import type { Environment } from '../shared/config.ts'
import { refuseConflict } from '../shared/text-file.ts'

export type Project = {
  readonly name: string | undefined
  /** `project.dependencies`; undefined when they are dynamic, or when there is no table `project`. */
  readonly dependencies: readonly string[] | undefined
  readonly hasProject: boolean
  /** Programs that the project installs. */
  readonly scripts: readonly string[]
  readonly usesPoetry: boolean
  /** `tool.poetry.package-mode`: false where Poetry only installs dependencies. */
  readonly isPoetryPackage: boolean
  readonly hasBuildSystem: boolean
  /** An exact `tool.uv.required-version`. */
  readonly uvVersion: string | undefined
  /** Names of packages that take the version from the history of git, which a build does not have. */
  readonly versionFromGit: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const parser = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.buffer.read().decode()), default=str))'
const gitVersions = [
  'setuptools-scm',
  'setuptools_scm',
  'hatch-vcs',
  'pbr',
  'poetry-dynamic-versioning',
  'versioningit',
  'dunamai',
]

/** @throws BuildFailure when it is not TOML */
export function readProject(text: string, environment: Environment): Project {
  return projectOf(parseToml(text, environment))
}

function parseToml(text: string, environment: Environment): Fields {
  refuseConflict('pyproject.toml', text)
  try {
    const json = execFileSync('python3', ['-c', parser], {
      env: { ...environment },
      input: text,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return JSON.parse(json) as Fields
  } catch (error) {
    const said = String((error as { readonly stderr?: unknown }).stderr ?? error)
    const cause = /TOMLDecodeError: (.+)/.exec(said)?.[1]
    if (cause === undefined) throw error
    throw new BuildFailure(`pyproject.toml is not valid TOML: ${cause}`)
  }
}

/** Pure. */
export function projectOf(toml: Fields): Project {
  const project = tableAt(toml, 'project')
  const poetry = tableAt(tableAt(toml, 'tool'), 'poetry')
  const build = tableAt(toml, 'build-system')
  const isDynamic = textsAt(project, 'dynamic').includes('dependencies')
  const required = tableAt(tableAt(toml, 'tool'), 'uv')['required-version']
  const requires = textsAt(build, 'requires').map(text => /^[\w.-]+/.exec(text)?.[0]?.toLowerCase() ?? '')
  const pdm = tableAt(tableAt(tableAt(toml, 'tool'), 'pdm'), 'version')['source'] === 'scm' ? ['pdm'] : []
  return {
    name: textAt(project, 'name') ?? textAt(poetry, 'name'),
    dependencies: isDynamic || Object.keys(project).length === 0 ? undefined : textsAt(project, 'dependencies'),
    hasProject: Object.keys(project).length > 0,
    scripts: ['scripts', 'gui-scripts'].flatMap(key => Object.keys(tableAt(project, key))),
    usesPoetry: tableAt(toml, 'tool')['poetry'] !== undefined,
    isPoetryPackage: poetry['package-mode'] !== false,
    hasBuildSystem: toml['build-system'] !== undefined,
    uvVersion: typeof required === 'string' ? /^==\s*(\d+(?:\.\d+)*)$/.exec(required.trim())?.[1] : undefined,
    versionFromGit: [...requires.filter(name => gitVersions.includes(name)), ...pdm],
  }
}

function tableAt(value: Fields, key: string): Fields {
  const found = value[key]
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : {}
}

function textAt(value: Fields, key: string): string | undefined {
  const found = value[key]
  return typeof found === 'string' ? found : undefined
}

function textsAt(value: Fields, key: string): readonly string[] {
  const found = value[key]
  return Array.isArray(found) ? found.filter(one => typeof one === 'string') : []
}
