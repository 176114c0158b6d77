// Files of the app as the buildpacks read them: nothing outside of the app's folder, whatever links lead there, and never more
// than a limit.
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { BuildFailure } from './build-failure.ts'
import { decodeText } from './text-file.ts'

export type AppFiles = {
  /** Whether there is such a file or folder, and no link on the way leads out of the app. */
  readonly exists: (path: string) => boolean
  /** Like `exists`, of a file that is no folder. */
  readonly hasFile: (path: string) => boolean
  readonly hasFolder: (path: string) => boolean
  /** The names of the folders in a folder, links left out; none when it is not there. */
  readonly foldersIn: (path: string) => readonly string[]
  /** The text as `decodeText` has it; undefined when there is nothing under this path. @throws BuildFailure */
  readonly read: (path: string, limit?: number) => string | undefined
  /** The place of the path without links, relative to the app; undefined when it is not there, or outside. */
  readonly placeOf: (path: string) => string | undefined
}

const usualLimit = 1_048_576

/** `root`: the app's folder, which no path leaves. `folder`: where relative paths begin, relative to it. */
export function openAppFiles(root: string, folder = '.'): AppFiles {
  const realRoot = realpathSync(root)
  const base = resolve(root, folder)
  const real = (path: string): string | undefined => {
    try {
      const found = realpathSync(resolve(base, path))
      return found === realRoot || found.startsWith(realRoot + sep) ? found : undefined
    } catch {
      // Neither there nor a link that leads somewhere.
      return undefined
    }
  }
  const is = (path: string, test: (facts: Stats) => boolean): boolean => {
    const found = real(path)
    return found !== undefined && test(statSync(found))
  }
  const hasFolder = (path: string): boolean => is(path, facts => facts.isDirectory())
  return {
    exists: path => real(path) !== undefined,
    hasFile: path => is(path, facts => facts.isFile()),
    hasFolder,
    foldersIn(path) {
      const found = hasFolder(path) ? real(path) : undefined
      const entries = found === undefined ? [] : readdirSync(found, { withFileTypes: true })
      return entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
    },
    placeOf(path) {
      const found = real(path)
      return found === undefined ? undefined : relative(realRoot, found) || '.'
    },
    read(path, limit = usualLimit) {
      const found = real(path)
      if (found !== undefined) return readText(found, shownAs(relative(root, resolve(base, path))), limit)
      if (statSync(resolve(base, path), { throwIfNoEntry: false }) === undefined) return undefined
      throw new BuildFailure(`${path} leads out of the repository: put the file itself there instead of a symbolic link`)
    },
  }
}

function shownAs(path: string): string {
  return path.split(sep).join('/')
}

function readText(file: string, name: string, limit: number): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const facts = fstatSync(descriptor)
    if (!facts.isFile()) throw new BuildFailure(`${name} is not a file: remove it, or write the file that is expected there`)
    if (facts.size > limit)
      throw new BuildFailure(
        `${name} has more than ${limit >= usualLimit ? `${limit / usualLimit} MiB` : `${limit / 1024} KiB`}: shorten it`,
      )
    return decodeText(name, readFileSync(descriptor))
  } finally {
    closeSync(descriptor)
  }
}
