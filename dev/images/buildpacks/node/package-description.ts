// Reads the parts of package.json that a build needs.
// Source: https://docs.npmjs.com/cli/v11/configuring-npm/package-json
import { BuildFailure } from '../shared/build-failure.ts'

export type PackageDescription = {
  readonly hasDependencies: boolean
  readonly hasDevDependencies: boolean
  readonly scripts: Readonly<Record<string, string>>
  readonly main: string | undefined
  /** The range of `engines.node`. */
  readonly nodeRange: string | undefined
  /** `packageManager`, such as `pnpm@9.1.0` (https://nodejs.org/api/packages.html#packagemanager). */
  readonly packageManager: string | undefined
}

/** @throws BuildFailure that says what is wrong */
export function parsePackageDescription(text: string): PackageDescription {
  const value = parse(text)
  const scripts = recordAt(value, 'scripts')
  for (const [name, script] of Object.entries(scripts))
    if (typeof script !== 'string') throw new BuildFailure(`package.json: scripts.${name} must be a string`)
  const main = textAt(value, 'main')
  const filled = (field: string): boolean => Object.keys(recordAt(value, field)).length > 0
  return {
    hasDependencies: ['dependencies', 'optionalDependencies'].some(filled) || value['workspaces'] !== undefined,
    hasDevDependencies: filled('devDependencies') || value['workspaces'] !== undefined,
    scripts: scripts as Readonly<Record<string, string>>,
    main,
    nodeRange: textAt(recordAt(value, 'engines'), 'node', 'engines.node'),
    packageManager: textAt(value, 'packageManager'),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new BuildFailure(`package.json is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isRecord(value)) throw new BuildFailure('package.json must contain an object')
  return value
}

function recordAt(value: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, unknown>> {
  const found = value[field]
  return isRecord(found) ? found : {}
}

function textAt(value: Readonly<Record<string, unknown>>, field: string, name = field): string | undefined {
  const found = value[field]
  if (found === undefined || typeof found === 'string') return found
  throw new BuildFailure(`package.json: ${name} must be a string`)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
