// By which tool the packages of an app are installed, from the files that are there. Pure.
import { BuildFailure } from '../shared/build-failure.ts'
import type { Project } from './project.ts'

export type Plan =
  | { readonly tool: 'pip'; readonly requirements: string }
  /** pip, from pyproject.toml or setup.py. */
  | { readonly tool: 'pip'; readonly requirements: undefined }
  | { readonly tool: 'uv' }
  | { readonly tool: 'poetry'; readonly isLocked: boolean }
  | { readonly tool: 'none' }

export type Planned = { readonly plan: Plan /** Lines of the log. */; readonly notes: readonly string[] }

const locks = ['uv.lock', 'poetry.lock'] as const
const otherLocks = ['pdm.lock', 'pylock.toml']

/**
 * `has`: whether a path of the app exists, and is not empty.
 * @throws BuildFailure when the files contradict each other, or belong to a tool that is missing
 */
export function planOf(has: (path: string) => boolean, project: Project | undefined): Planned {
  const found = locks.filter(has)
  const unread = otherLocks.filter(has)
  if (has('requirements.txt'))
    return planned(
      { tool: 'pip', requirements: 'requirements.txt' },
      [...found, ...unread].map(notRead('requirements.txt decides')),
    )
  if (found.length > 1)
    throw new BuildFailure(`${found.join(' and ')} contradict each other: keep the lock file of the tool that you use`)
  const [lock] = found
  if (lock !== undefined && project === undefined) throw new BuildFailure(`${lock} is there without pyproject.toml: commit both`)
  const notes = unread.map(notRead('export a requirements.txt to keep the versions'))
  if (lock === 'uv.lock') return planned({ tool: 'uv' }, notes)
  if (lock === 'poetry.lock' || project?.usesPoetry === true)
    return planned({ tool: 'poetry', isLocked: lock !== undefined }, [
      ...notes,
      ...(lock === undefined ? [notLocked('poetry lock')] : []),
    ])
  if (project?.hasProject === true || has('setup.py'))
    return planned({ tool: 'pip', requirements: undefined }, [...notes, notLocked('uv lock" or "pip-compile')])
  if (has('requirements.in'))
    return planned({ tool: 'pip', requirements: 'requirements.in' }, [
      'requirements.in is installed as it is, so the versions may change with every build: run "pip-compile" and commit requirements.txt',
    ])
  return withoutPackages(has)
}

function withoutPackages(has: (path: string) => boolean): Planned {
  const unsupported = ['Pipfile', 'environment.yml'].find(has)
  if (unsupported !== undefined)
    throw new BuildFailure(`${unsupported} is not supported: write a requirements.txt (pip freeze > requirements.txt)`)
  const note =
    'the folder requirements is not read: write a requirements.txt with a line such as "-r requirements/production.txt"'
  return planned({ tool: 'none' }, has('requirements') ? [note] : [])
}

function planned(plan: Plan, notes: readonly string[]): Planned {
  return { plan, notes }
}

function notRead(why: string): (file: string) => string {
  return file => `${file} is not read: ${why}`
}

function notLocked(command: string): string {
  return `there is no lock file, so the versions may change with every build: run "${command}" and commit what it writes`
}
