// Reads the parts of package.json that a build needs; returns them or a message for the app's owner.

export type PackageDescription = {
  readonly hasDependencies: boolean
  readonly start: string | undefined
  readonly main: string | undefined
}

export type Parsed =
  | { readonly ok: true; readonly description: PackageDescription }
  | { readonly ok: false; readonly problem: string }

export function parsePackageDescription(text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, problem: 'package.json is not valid JSON: fix it and push again' }
  }
  if (!isRecord(value)) return { ok: false, problem: 'package.json must contain an object' }
  const { scripts, main } = value
  const start = isRecord(scripts) ? scripts['start'] : undefined
  if (start !== undefined && typeof start !== 'string')
    return { ok: false, problem: 'package.json: scripts.start must be a string' }
  if (main !== undefined && typeof main !== 'string') return { ok: false, problem: 'package.json: main must be a string' }
  const hasDependencies = ['dependencies', 'optionalDependencies'].some(field => {
    const dependencies = value[field]
    return isRecord(dependencies) && Object.keys(dependencies).length > 0
  })
  return { ok: true, description: { hasDependencies, start, main } }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
