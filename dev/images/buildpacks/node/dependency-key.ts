// Decides whether node_modules of the previous build can be reused.
// The key includes package.json as well as the lockfile: with the lockfile alone, a package.json that no longer matches it would
// build from stale modules and pass.
import { createHash } from 'node:crypto'

/** The files that npm reads; they are also copied beside the modules. */
export const definingFiles = ['package.json', 'package-lock.json', 'npm-shrinkwrap.json', '.npmrc'] as const

export function dependencyKey(nodeVersion: string, files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256').update(nodeVersion)
  for (const name of definingFiles) {
    const content = files.get(name)
    if (content) hash.update(`\0${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** The layer's description: part of the image and kept for the next build (CNB buildpack specification, "Layer Types"). */
export function layerDescription(key: string): string {
  return `[types]\nlaunch = true\ncache = true\n[metadata]\nkey = "${key}"\n`
}

/** Whether the description that the lifecycle restored belongs to the same dependencies. */
export function isSameDependencies(restored: string | undefined, key: string): boolean {
  return restored?.includes(`"${key}"`) === true
}
