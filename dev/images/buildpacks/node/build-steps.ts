// Which build scripts run for one application of a workspace: those of the packages of the repository that it uses, each after
// what it uses itself, and then its own.
import { posix } from 'node:path'
import type { AppFiles } from '../shared/app-files.ts'
import { emptyDescription, type PackageDescription, parsePackageDescription } from './package-description.ts'
import { linkedFolders } from './packages.ts'

/** A script of the package.json in `folder`, which is relative to the app. */
export type BuildStep = { readonly folder: string; readonly script: string }

/** They run at every install, and may use packages that only the development needs. */
export const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']
/** Heroku's name takes the place of all others. */
const wholeBuild = 'heroku-postbuild'

export function buildScriptOf({ scripts }: Pick<PackageDescription, 'scripts'>): string | undefined {
  return [wholeBuild, 'build'].find(name => (scripts[name] ?? '').trim() !== '')
}

/** Call it when packages are installed: their links say which of them are of the repository. @throws BuildFailure */
export function buildSteps(files: AppFiles, folder: string, say: (line: string) => void): readonly BuildStep[] {
  const describe = (place: string): PackageDescription => {
    const name = posix.join(place, 'package.json')
    const text = files.read(name)
    return text === undefined ? emptyDescription : parsePackageDescription(text, name)
  }
  const own = buildScriptOf(describe(folder))
  if (own === wholeBuild) return [{ folder, script: own }]
  const steps: BuildStep[] = []
  const state = new Map<string, 'begun' | 'done'>()
  const visit = (place: string): void => {
    state.set(place, 'begun')
    const description = describe(place)
    const names = Object.keys({ ...description.dependencies, ...description.optional, ...description.devDependencies })
    for (const other of linkedFolders(files, place, names)) {
      if (state.get(other) === 'begun' && other !== place) say(`${other} and ${place} use each other: ${place} is built first`)
      if (state.get(other) === undefined && other !== '.') visit(other)
    }
    state.set(place, 'done')
    const script = buildScriptOf(description)
    if (script !== undefined) steps.push({ folder: place, script })
  }
  visit(folder)
  return steps
}
