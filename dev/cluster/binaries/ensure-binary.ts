// Finds or makes the programs of one catalog entry: cache, KUBEBUILDER_ASSETS, verified download, build from source.
// It must never return a program that did not come from one of these.
import { constants } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/lib/errors.ts'
import { isAccessible } from '../file-access.ts'
import { withLock } from '../processes/lock.ts'
import type { Progress } from '../progress.ts'
import type { ClusterSettings } from '../settings.ts'
import type { CatalogEntry } from './catalog.ts'
import { programsOf } from './catalog.ts'
import { downloadPrograms } from './download.ts'
import { cacheKey } from './fingerprint.ts'
import { buildPrograms } from './go-build.ts'

export type Programs = {
  /** Absolute path of a program of the entry; throws for a name the entry does not have. */
  readonly path: (program: string) => string
  readonly folder: string
  readonly source: 'cache' | 'assets' | 'download' | 'build'
}

export type BinaryDeps = { readonly settings: ClusterSettings; readonly progress: Progress }

/** The architecture as Go and the publishers name it. */
export function goArchitecture(architecture: NodeJS.Architecture = process.arch): string {
  return architecture === 'x64' ? 'amd64' : architecture
}

async function holdsAll(folder: string, entry: CatalogEntry): Promise<boolean> {
  const checks = programsOf(entry).map(program => isAccessible(join(folder, program), constants.X_OK))
  return !(await Promise.all(checks)).includes(false)
}

function programsIn(folder: string, entry: CatalogEntry, source: Programs['source']): Programs {
  const known = new Set(programsOf(entry))
  return {
    folder,
    source,
    path: program => {
      if (!known.has(program)) throw new Error(`${entry.name} has no program ${program}; it has ${[...known].join(', ')}`)
      return join(folder, program)
    },
  }
}

/** Where the programs of an entry are; does not make them. */
export async function findBinary(entry: CatalogEntry, settings: ClusterSettings): Promise<Programs | undefined> {
  const folder = await cacheFolderOf(entry, settings)
  if (await holdsAll(folder, entry)) return programsIn(folder, entry, 'cache')
  const assets = settings.kubebuilderAssets
  if (assets !== undefined && (await holdsAll(assets, entry))) return programsIn(assets, entry, 'assets')
  return undefined
}

export function moduleFolderOf(entry: CatalogEntry, settings: ClusterSettings): string {
  return join(settings.repository, 'dev', 'cluster', 'modules', entry.module)
}

export async function cacheFolderOf(entry: CatalogEntry, settings: ClusterSettings): Promise<string> {
  const key = await cacheKey(entry, moduleFolderOf(entry, settings), goArchitecture())
  return join(settings.cacheFolder, 'binaries', entry.name, key)
}

/** Resolves to the programs of an entry and makes them when they are missing. Safe to call from several processes at once. */
export async function ensureBinary(entry: CatalogEntry, deps: BinaryDeps): Promise<Programs> {
  const found = await findBinary(entry, deps.settings)
  if (found !== undefined) return found
  const folder = await cacheFolderOf(entry, deps.settings)
  return withLock(`${folder}.lock`, async () => {
    const meanwhile = await findBinary(entry, deps.settings)
    if (meanwhile !== undefined) return meanwhile
    const download = entry.download
    if (download !== undefined && deps.settings.downloads) {
      try {
        await downloadPrograms(entry, download, folder, goArchitecture())
        deps.progress.note(`${entry.name} ${entry.version}: downloaded and checked`)
        return programsIn(folder, entry, 'download')
      } catch (error) {
        deps.progress.note(`${entry.name} ${entry.version}: download failed (${messageOf(error)}); building from source`)
      }
    }
    await deps.progress.step(`build ${entry.name} ${entry.version} from source (${entry.coldBuild} with empty caches)`, () =>
      buildPrograms(entry, moduleFolderOf(entry, deps.settings), folder),
    )
    return programsIn(folder, entry, 'build')
  })
}
