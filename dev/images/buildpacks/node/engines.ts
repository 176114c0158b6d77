// Whether the Node.js of the image is one that the app accepts. Ranges are read by the library that npm itself uses and brings
// along.
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'

type Semver = {
  readonly validRange: (range: string) => string | null
  readonly satisfies: (version: string, range: string) => boolean
}

/** @throws BuildFailure when `range` does not contain `version`; the message names both */
export function checkEngine(range: string | undefined, version: string, searchPath: string): void {
  if (range === undefined || range.trim() === '') return
  const { validRange, satisfies } = loadSemver(searchPath)
  if (validRange(range) === null)
    throw new BuildFailure(
      `package.json: engines.node is "${range}", which is not a range of versions: write for example "${majorOf(version)}.x"`,
    )
  if (satisfies(version, range)) return
  throw new BuildFailure(
    `package.json: engines.node is "${range}", and this builder has Node.js ${version}: ` +
      `change engines.node to a range with it, such as "${majorOf(version)}.x", or build with another builder (spec.build.builder)`,
  )
}

function majorOf(version: string): string {
  return version.split('.', 1)[0] ?? version
}

function loadSemver(searchPath: string): Semver {
  const npm = searchPath
    .split(':')
    .map(folder => join(folder, 'npm'))
    .find(existsSync)
  if (npm === undefined) throw new Error('npm is not in PATH: the build image must contain it')
  return createRequire(realpathSync(npm))('semver') as Semver
}

/**
 * The version that a file for version managers asks for, when it is another major version; only worth a line of the log.
 * `read`: the text of a file of the app.
 */
export function otherVersionWanted(read: (path: string) => string | undefined, version: string): string | undefined {
  for (const name of ['.nvmrc', '.node-version']) {
    const wanted = read(name)?.trim() ?? ''
    const major = /^v?(\d+)/.exec(wanted)?.[1]
    if (major !== undefined && major !== majorOf(version)) return `${name} asks for ${wanted.slice(0, 40)}`
  }
  return undefined
}
