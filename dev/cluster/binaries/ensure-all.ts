// Makes every program of the catalog before something else needs the processors: builds from source take minutes.
import { type CatalogEntry, catalog } from './catalog.ts'
import { type BinaryDeps, ensureBinary } from './ensure-binary.ts'

/** With a full cache nothing happens. Two at a time: one fetches modules or links while the other compiles. */
export async function ensureAll(deps: BinaryDeps): Promise<void> {
  const { lifecycle, kpack, buildkit, ...others } = catalog
  const inOrder = async (entries: readonly CatalogEntry[]): Promise<void> => {
    for (const entry of entries) await ensureBinary(entry, deps)
  }
  await Promise.all([inOrder(Object.values(others)), inOrder([lifecycle, kpack, buildkit])])
}
