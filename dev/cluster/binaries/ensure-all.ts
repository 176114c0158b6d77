// Makes the programs of the catalog before something else needs the processors: builds from source take minutes. With a full
// cache nothing happens.
import { type CatalogEntry, catalog } from './catalog.ts'
import { type BinaryDeps, ensureBinary } from './ensure-binary.ts'

const { lifecycle, kpack, buildkit, gvisor, promtool, versitygw, ...ofCluster } = catalog

async function inOrder(entries: readonly CatalogEntry[], deps: BinaryDeps): Promise<void> {
  for (const entry of entries) await ensureBinary(entry, deps)
}

/** Those that are needed last, when a cluster runs: for builds on it, and for buckets. */
export function ensureBuildPrograms(deps: BinaryDeps): Promise<void> {
  return inOrder([lifecycle, kpack, buildkit, versitygw], deps)
}

/** Two at a time: one fetches modules or links while the other compiles. */
export async function ensureAll(deps: BinaryDeps): Promise<void> {
  await Promise.all([inOrder(Object.values(ofCluster), deps), ensureBuildPrograms(deps)])
  // Only tests need them: those of RuntimeClasses, and those of what Prometheus reads.
  await inOrder([gvisor, promtool], deps)
}
