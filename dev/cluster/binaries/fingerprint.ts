// Computes the cache key of a built program: two builds share a key exactly when they would produce the same binary.
// Reads the module's files only.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogEntry } from './catalog.ts'

/** `<version>-<16 hex digits>` over the module's Go files and patches, flags, tags, packages, stubs and architecture. */
export async function cacheKey(entry: CatalogEntry, moduleFolder: string, architecture: string): Promise<string> {
  const hash = createHash('sha256')
  const files = (await readdir(moduleFolder)).filter(name => /^go\.(mod|sum)$|\.(go|patch)$/.test(name)).sort()
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(await readFile(join(moduleFolder, file)))
      .update('\0')
  const changes = [entry.stubs, entry.patches].filter(one => one !== undefined)
  hash.update(JSON.stringify([entry.builds, entry.links, entry.ldflags, entry.tags, architecture, ...changes]))
  return `${entry.version}-${hash.digest('hex').slice(0, 16)}`
}
