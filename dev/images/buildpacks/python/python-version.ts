// Whether the Python of the image is the one that the app asks for.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'

export function installedVersion({ environment }: Pick<BuildContext, 'environment'>): string {
  return execFileSync('python3', ['-c', 'import platform; print(platform.python_version())'], {
    env: { ...environment },
    encoding: 'utf8',
  }).trim()
}

/**
 * `requires-python` of pyproject.toml is checked by pip itself.
 * @throws BuildFailure when runtime.txt or .python-version names another minor version than `version`
 */
export function checkVersion(appFolder: string, version: string): void {
  for (const name of ['runtime.txt', '.python-version']) {
    const file = join(appFolder, name)
    if (!existsSync(file)) continue
    const wanted =
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')[0]
        ?.replace(/^python-/, '')
        .trim() ?? ''
    const parts = wanted.split('.').slice(0, 2)
    if (wanted === '' || parts.every((part, index) => part === version.split('.')[index])) continue
    const minor = version.split('.').slice(0, 2).join('.')
    throw new BuildFailure(
      `${name} asks for Python ${wanted}, and this builder has Python ${version}: write ${name === 'runtime.txt' ? `python-${minor}` : minor}, or build with another builder (spec.build.builder)`,
    )
  }
}
