// Reads the parts of package.json that a build needs.
// Source: https://docs.npmjs.com/cli/v11/configuring-npm/package-json
import { BuildFailure } from '../shared/build-failure.ts'
import { refuseConflict } from '../shared/text-file.ts'

export type PackageDescription = {
  /** Version or range by name: what the program needs, what it can do without, and what only its development needs. */
  readonly dependencies: Readonly<Record<string, unknown>>
  readonly optional: Readonly<Record<string, unknown>>
  readonly devDependencies: Readonly<Record<string, unknown>>
  /** Whether it has `workspaces`, which npm and yarn read. */
  readonly isWorkspace: boolean
  readonly scripts: Readonly<Record<string, string>>
  readonly main: string | undefined
  /** The range of `engines.node`. */
  readonly nodeRange: string | undefined
  /** `packageManager`, such as `pnpm@9.1.0` (https://nodejs.org/api/packages.html#packagemanager). */
  readonly packageManager: string | undefined
}

export const emptyDescription: PackageDescription = parsePackageDescription('{}')

/** `file`: its name for messages. @throws BuildFailure that says what is wrong */
export function parsePackageDescription(text: string, file = 'package.json'): PackageDescription {
  const value = parse(text, file)
  const scripts = recordAt(value, 'scripts')
  for (const [name, script] of Object.entries(scripts))
    if (typeof script !== 'string') throw new BuildFailure(`${file}: scripts.${name} must be a string`)
  const textAt = (record: Readonly<Record<string, unknown>>, field: string, name = field): string | undefined => {
    const found = record[field]
    if (found === undefined || typeof found === 'string') return found
    throw new BuildFailure(`${file}: ${name} must be a string`)
  }
  return {
    dependencies: recordAt(value, 'dependencies'),
    optional: recordAt(value, 'optionalDependencies'),
    devDependencies: recordAt(value, 'devDependencies'),
    isWorkspace: value['workspaces'] !== undefined,
    scripts: scripts as Readonly<Record<string, string>>,
    main: textAt(value, 'main'),
    nodeRange: textAt(recordAt(value, 'engines'), 'node', 'engines.node'),
    packageManager: textAt(value, 'packageManager'),
  }
}

function parse(text: string, file: string): Readonly<Record<string, unknown>> {
  refuseConflict(file, text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BuildFailure(`${file} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isRecord(value)) throw new BuildFailure(`${file} must contain an object`)
  return value
}

function recordAt(value: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, unknown>> {
  const found = value[field]
  return isRecord(found) ? found : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The names of the programs that a package installs. Source: …/package-json#bin */
export function programsOf(text: string): readonly string[] {
  const { name, bin } = parse(text, 'package.json')
  if (typeof bin === 'string') return typeof name === 'string' ? [name.replace(/^@[^/]*\//, '')] : []
  return isRecord(bin) ? Object.keys(bin) : []
}
