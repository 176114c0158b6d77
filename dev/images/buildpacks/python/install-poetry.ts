// Installs what poetry.lock says, or without one what pyproject.toml says: Poetry makes requirements of it, which pip installs
// from the same registry, with the same credentials, as for every other app.
// Source: https://python-poetry.org/docs/cli/#export , https://github.com/python-poetry/poetry-plugin-export
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { cacheLayer, type PackageFolder, pipCommand } from './environment.ts'
import type { Project } from './project.ts'
import { installItself, sayVersion } from './project-itself.ts'
import { installTool } from './tools.ts'

/** Packages of folders and of git have no digest: pip then takes none at all. */
const withoutDigest = /^type = "(?:directory|file|git|url)"$/m

/** Of the main group, as poetry-core reads them. */
const dependencies = `
from pathlib import Path
from poetry.core.factory import Factory
for dependency in Factory().create_poetry(Path.cwd()).package.requires:
    if not dependency.is_optional():
        print(dependency.to_pep_508())
`

export function installByPoetry(
  context: BuildContext,
  packages: PackageFolder,
  project: Project | undefined,
  isLocked: boolean,
): void {
  // It can contain the passwords of registries, so it is in no layer.
  const scratch = mkdtempSync(join(tmpdir(), 'sekisho-poetry-'))
  try {
    const file = join(scratch, 'requirements.txt')
    if (isLocked) exportLocked(context, packages, file)
    else writeFileSync(file, readDependencies(context, packages))
    if (readFileSync(file, 'utf8').trim() !== '') packages.run(pipCommand(packages, ['-r', file]))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  if (project?.isPoetryPackage !== true || !project.hasBuildSystem) return
  sayVersion(context, project)
  installItself(context, packages, project, pipCommand(packages, ['--no-deps', '.']))
}

function exportLocked(context: BuildContext, packages: PackageFolder, file: string): void {
  const { appFolder, layersFolder } = context
  const poetry = join(installTool(context, packages, 'poetry'), 'poetry')
  const variables = {
    POETRY_CACHE_DIR: cacheLayer(layersFolder, 'poetry-cache'),
    POETRY_VIRTUALENVS_CREATE: 'false',
    POETRY_NO_INTERACTION: '1',
  }
  const digests = withoutDigest.test(readFileSync(join(appFolder, 'poetry.lock'), 'utf8')) ? ['--without-hashes'] : []
  packages.run(
    [
      poetry,
      'export',
      '--no-ansi',
      '--format=requirements.txt',
      '--only=main',
      '--with-credentials',
      ...digests,
      '--output',
      file,
    ],
    variables,
    output =>
      /changed significantly since poetry\.lock|poetry\.lock is not up to date/.test(output)
        ? 'poetry.lock does not agree with pyproject.toml: run "poetry lock" and commit poetry.lock'
        : /poetry\.lock.*(?:not valid|Unable to read|Invalid)|Unable to read the lock file|lock file is not compatible/.test(
              output,
            )
          ? 'poetry.lock cannot be read: run "poetry lock" and commit poetry.lock'
          : undefined,
  )
}

/** @throws BuildFailure with what poetry-core says about pyproject.toml */
function readDependencies(context: BuildContext, packages: PackageFolder): string {
  const { appFolder, environment } = context
  const python = join(installTool(context, packages, 'poetry-core'), 'python')
  try {
    return execFileSync(python, ['-c', dependencies], {
      cwd: appFolder,
      env: { ...environment },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch (error) {
    const said = String((error as { readonly stderr?: unknown }).stderr ?? error)
    throw new BuildFailure(
      `pyproject.toml: ${said
        .trim()
        .split('\n')
        .at(-1)
        ?.replace(/^[\w.]+(?:Error|Exception): /, '')}`,
    )
  }
}
