// What a build leaves for the image, as `startProblem` asks for it. Two views: what devDependencies had before they were removed,
// and what is there afterwards.
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { PackageDescription } from '../package-description.ts'
import { findPackage, hasInstalledProgram, packageWithProgram } from '../packages.ts'
import type { NodeApp } from '../read-app.ts'
import type { BuiltImage } from './start-problem.ts'

/** In the build image only: pip, what build-tools.ts of the recipes adds, and what the build installs for itself. */
const ofBuildOnly = new Set([
  ...['pip', 'pip3', 'pnpm', 'yarn', 'make', 'gcc', 'g++', 'cc', 'c++', 'cpp', 'ld', 'ar', 'as', 'pkg-config', 'pkgconf'],
  ...['apt', 'apt-get', 'apt-cache', 'dpkg', 'dpkg-deb', 'git', 'perl'],
])

type Given = {
  readonly appFolder: string
  /** Where the programs of the build image are: the run image has the same, but for those that only builds need. */
  readonly searchPath: string
}

/** What a file may be as the text of a program: the first line counts. */
const firstBytes = 4096

/** `development`: which package of devDependencies had a program, asked for before they were removed. */
export function builtImage(
  { files, own, root, script, folder: home }: NodeApp,
  { appFolder, searchPath }: Given,
  development: ReadonlyMap<string, string>,
): BuiltImage {
  const inside = (folder: string, path: string): string | undefined => {
    const place = resolve(appFolder, folder, path)
    return place === appFolder || place.startsWith(appFolder + sep) ? place : undefined
  }
  return {
    when: script === undefined && home === '.' ? '' : ' after the build script',
    exists(folder, path) {
      const place = inside(folder, path)
      return place === undefined ? undefined : files.exists(place)
    },
    isExecutable(folder, path) {
      const place = inside(folder, path)
      return place === undefined || isExecutable(place)
    },
    firstLine(folder, path) {
      const place = inside(folder, path)
      return place !== undefined && files.hasFile(place) ? firstLineOf(place) : ''
    },
    // The programs of the application are in PATH for commands of every folder.
    hasProgram: (folder, name) =>
      [folder, home].some(place => hasInstalledProgram(files, place, name)) || isOfImage(searchPath, name),
    hasPackage: (folder, name) => findPackage(files, folder, name) !== undefined,
    developmentPackageOf: program => development.get(program) ?? [program].find(name => isDevelopment([own, root], name)),
    isDevelopmentPackage: name => isDevelopment([own, root], name),
    scripts: folder => (folder === home ? own.scripts : folder === '.' ? root.scripts : undefined),
  }
}

function isDevelopment(descriptions: readonly PackageDescription[], name: string): boolean {
  return descriptions.some(({ devDependencies }) => Object.hasOwn(devDependencies, name))
}

/** Of the layers with packages of Debian, the image has the one for the run in place of the one for the build. */
function isOfImage(searchPath: string, name: string): boolean {
  return searchPath.split(':').some(folder => {
    const ofLayer = folder.includes('/system-build/')
    return (
      folder.startsWith('/') &&
      (ofLayer || !ofBuildOnly.has(name)) &&
      existsSync(join(folder.replace('/system-build/', '/system/'), name))
    )
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not executable, which is the answer.
    return false
  }
}

function firstLineOf(path: string): string {
  return readFileSync(path).subarray(0, firstBytes).toString('latin1').split('\n', 1)[0] ?? ''
}

/** The words that may be programs or packages of `commands`, with the package of devDependencies that has each: the last look. */
export function developmentPrograms(
  { files, folder, own, root }: NodeApp,
  commands: readonly (readonly string[])[],
): ReadonlyMap<string, string> {
  const names = [...Object.keys(own.devDependencies), ...Object.keys(root.devDependencies)]
  const words = new Set(commands.flat().flatMap(word => word.split(/[\s'"]+/)))
  const found = new Map<string, string>()
  for (const program of words) {
    if (program === '' || program.includes('/') || !hasInstalledProgram(files, folder, program)) continue
    const owner = packageWithProgram(files, folder, { names, program })
    if (owner !== undefined) found.set(program, owner)
  }
  return found
}
