// Builds a peer written in Go (test/bench/peers/<name>, a module with pinned versions) into the cache, once per source version.
// It uses the Go module proxy and never changes the module.
import { access, constants, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CatalogEntry } from '../../../dev/cluster/binaries/catalog.ts'
import { goArchitecture } from '../../../dev/cluster/binaries/ensure-binary.ts'
import { cacheKey } from '../../../dev/cluster/binaries/fingerprint.ts'
import { buildPrograms } from '../../../dev/cluster/binaries/go-build.ts'
import { withLock } from '../../../dev/cluster/processes/lock.ts'
import { readClusterSettings } from '../../../dev/cluster/settings.ts'

/**
 * Resolves to the path of the peer's program, built with these tags. Calls `note` when it must be built first (about a minute,
 * cold).
 */
export async function ensureGoPeer(name: string, note: (message: string) => void, tags: readonly string[] = []): Promise<string> {
  const { repository, cacheFolder } = readClusterSettings()
  const module = join(repository, 'test', 'bench', 'peers', name)
  const entry: CatalogEntry = {
    name,
    version: 'peer',
    module: name,
    builds: { [name]: '.' },
    links: {},
    ldflags: ['-s', '-w'],
    tags,
    coldBuild: 'a minute',
  }
  const folder = join(cacheFolder, 'peers', name, await cacheKey(entry, module, goArchitecture()))
  const program = join(folder, name)
  await mkdir(dirname(folder), { recursive: true })
  await withLock(`${folder}.lock`, async () => {
    const built = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (built) return
    note(`building the peer ${[name, ...tags].join(' ')}`)
    await buildPrograms(entry, module, folder)
  })
  return program
}
