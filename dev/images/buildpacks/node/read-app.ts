// What a Node.js app is before anything of it runs: its package.json, that of the workspace around it, its Procfile and its
// package manager.
import { posix } from 'node:path'
import { type AppFiles, openAppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { type Procfile, parseProcfile, procfileLimit } from '../shared/procfile.ts'
import { buildScriptOf } from './build-steps.ts'
import { choosePackageManager } from './managers/choose.ts'
import type { PackageManager } from './managers/package-manager.ts'
import { emptyDescription, type PackageDescription, parsePackageDescription } from './package-description.ts'

export type NodeApp = {
  /** Of what is built; paths are relative to it. */
  readonly files: AppFiles
  /** Where the application is in it: `.`, or the folder of one package of a workspace. */
  readonly folder: string
  /** Its package.json. */
  readonly own: PackageDescription
  /** The package.json of the whole: the same one without a workspace around it. */
  readonly root: PackageDescription
  /** The script that builds the whole, where the application is the whole. */
  readonly script: string | undefined
  readonly procfile: Procfile
  readonly manager: PackageManager
}

/** @throws BuildFailure whose message is for the app's owner */
export function readNodeApp({ appFolder, application: { folder } }: Pick<BuildContext, 'appFolder' | 'application'>): NodeApp {
  const files = openAppFiles(appFolder)
  const describe = (place: string): PackageDescription | undefined => {
    const name = posix.join(place, 'package.json')
    const text = files.read(name)
    return text === undefined ? undefined : parsePackageDescription(text, name)
  }
  const own = describe(folder)
  if (own === undefined) throw new BuildFailure(`there is no ${posix.join(folder, 'package.json')}: correct spec.subPath`)
  const root = folder === '.' ? own : (describe('.') ?? emptyDescription)
  const manager = choosePackageManager(root, files.read, files.exists)
  if (folder !== '.' && !manager.isWorkspace)
    throw new BuildFailure(
      `spec.build.root names a folder that is not a workspace of ${manager.name}: it has no ${manager.name === 'pnpm' ? 'pnpm-workspace.yaml with packages' : 'package.json with workspaces'}; correct it, or remove it to build ${folder} alone`,
    )
  if (folder === '.' && !manager.isWorkspace) demandOwnPackages(own)
  const procfile = parseProcfile(files.read(posix.join(folder, 'Procfile'), procfileLimit) ?? '')
  return { files, folder, own, root, script: buildScriptOf(own), procfile, manager }
}

/** Stops an install whose error would not say that the workspace around the folder is not there. */
function demandOwnPackages({ dependencies, optional, devDependencies }: PackageDescription): void {
  const [name, wanted] =
    Object.entries({ ...devDependencies, ...optional, ...dependencies }).find(
      ([, range]) => typeof range === 'string' && /^(?:workspace:|(?:file|link|portal):\.\.\/)/.test(range),
    ) ?? []
  if (name === undefined) return
  throw new BuildFailure(
    `package.json wants ${name} as "${wanted}", a package beside this folder, which is not in the build: keep spec.subPath and set spec.build.root to the folder with the lock file, such as "."`,
  )
}
