// Whether the Python of the image is the one that the app asks for.
import { execFileSync } from 'node:child_process'
import { openAppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'

export function installedVersion({ environment }: Pick<BuildContext, 'environment'>): string {
  return execFileSync('python3', ['-c', 'import platform; print(platform.python_version())'], {
    env: { ...environment },
    encoding: 'utf8',
  }).trim()
}

type Wanted = { readonly kind: 'version'; readonly numbers: readonly string[] } | { readonly kind: 'implementation' | 'unknown' }

/**
 * A line of `.python-version` or runtime.txt: `3.11`, `3.11.9`, `3.11-dev`, `3.11.x`, `python-3.11.9`, `cpython-3.11.9-linux`,
 * `cpython@3.11` (https://github.com/pyenv/pyenv, https://docs.astral.sh/uv/concepts/python-versions/#requesting-a-version).
 */
export function readVersion(line: string): Wanted {
  if (/^(?:pypy|graalpy|graalpython|jython|ironpython|micropython|miniconda|anaconda|stackless|nogil)/i.test(line))
    return { kind: 'implementation' }
  const found = /^(?:c?python[-@ ]?|py)?v?(3(?:\.(?:\d+|x|\*))*)(?:t|(?:a|b|rc)\d+|[-+.](?:dev|[a-z].*))?$/i.exec(line)?.[1]
  if (found === undefined) return { kind: 'unknown' }
  return { kind: 'version', numbers: found.split('.').filter(part => /^\d+$/.test(part)) }
}

/**
 * `requires-python` of pyproject.toml is checked by pip, uv and Poetry themselves. Only the minor version counts; of several
 * lines one must fit, as for pyenv.
 * @throws BuildFailure when runtime.txt or .python-version names another version than `version`
 */
export function checkVersion(appFolder: string, version: string, say: (line: string) => void): void {
  for (const name of ['runtime.txt', '.python-version']) {
    const lines = (openAppFiles(appFolder).read(name) ?? '')
      .split('\n')
      .map(line => line.replace(/#.*$/, '').trim())
      .filter(line => line !== '')
    if (lines.length === 0) continue
    const wanted = lines.map(readVersion)
    if (wanted.some(one => one.kind === 'version' && fits(one.numbers, version))) continue
    const shown = lines
      .map(line => line.slice(0, 60))
      .slice(0, 5)
      .join(', ')
    if (wanted.every(one => one.kind === 'unknown')) say(`${name} says ${shown}, which is not a version of Python: not read`)
    else throw new BuildFailure(otherVersion(name, shown, version))
  }
}

function fits(numbers: readonly string[], version: string): boolean {
  return numbers.slice(0, 2).every((part, index) => part === version.split('.')[index])
}

function otherVersion(name: string, wanted: string, version: string): string {
  const minor = version.split('.').slice(0, 2).join('.')
  const cure = name === 'runtime.txt' ? `python-${minor}` : minor
  const asked = /^(?:c?python[-@ ]?)?\d/i.test(wanted) ? wanted.replace(/^c?python[-@ ]?/i, 'Python ') : wanted
  const what = asked.startsWith('Python ') || !/^\d/.test(asked) ? asked : `Python ${asked}`
  return `${name} asks for ${what}, and this builder has Python ${version}: write ${cure}, or build with another builder (spec.build.builder)`
}
