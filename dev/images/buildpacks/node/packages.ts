// What is installed below an app: the programs and packages that a command in one of its folders finds, as Node.js looks for
// them, from the folder up to the root of what is built.
import { readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { AppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import { programsOf } from './package-description.ts'

/** `folder` and all above it, up to the root; relative to the app. */
export function foldersAbove(folder: string): readonly string[] {
  const found = [folder]
  while (found.at(-1) !== '.') found.push(posix.dirname(found.at(-1) ?? '.'))
  return found
}

/** The folder of an installed package, as a path of the app; undefined when a module in `folder` would not find it. */
export function findPackage(files: AppFiles, folder: string, name: string): string | undefined {
  const path = foldersAbove(folder)
    .map(above => posix.join(above, 'node_modules', name))
    .find(files.exists)
  return path === undefined ? undefined : files.placeOf(path)
}

/** Whether node_modules has a program of this name for commands in `folder`. */
export function hasInstalledProgram(files: AppFiles, folder: string, name: string): boolean {
  return foldersAbove(folder).some(above => files.exists(posix.join(above, 'node_modules', '.bin', name)))
}

/** The package among `names` that installs a program; undefined when none of them does, or none is installed. */
export function packageWithProgram(
  files: AppFiles,
  folder: string,
  { names, program }: { readonly names: readonly string[]; readonly program: string },
): string | undefined {
  return names.find(name => {
    const place = findPackage(files, folder, name)
    return place !== undefined && programsIn(files, place).includes(program)
  })
}

/** What strangers wrote into their package.json fails no build. */
function programsIn(files: AppFiles, place: string): readonly string[] {
  try {
    return programsOf(files.read(posix.join(place, 'package.json')) ?? '{}')
  } catch (error) {
    if (error instanceof BuildFailure) return []
    throw error
  }
}

/**
 * The folders of packages of the repository itself among `names`: what node_modules leads to and is not below node_modules.
 */
export function linkedFolders(files: AppFiles, folder: string, names: readonly string[]): readonly string[] {
  return names
    .flatMap(name => findPackage(files, folder, name) ?? [])
    .filter(place => !place.split('/').includes('node_modules') && files.exists(posix.join(place, 'package.json')))
}

const deepest = 12

/** All folders node_modules of the app that are not in another one. Links are not followed. */
export function moduleFolders(root: string, depth = 0): readonly string[] {
  if (depth > deepest) return []
  return readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(({ name }) => (name === 'node_modules' ? [join(root, name)] : moduleFolders(join(root, name), depth + 1)))
}
