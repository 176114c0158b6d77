// Creates the image builder's dependencies from the settings of the local cluster, for the command line here and for dev/kpack.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import type { Progress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { type ClusterSettings, registryHost } from '../cluster/settings.ts'
import { createBlobStore } from './blobs/blob-store.ts'
import type { BuildImagesDeps } from './build-images.ts'
import { createPackageSource } from './debian/package-source.ts'
import { createNodeSource } from './node-source.ts'
import { createRegistryClient } from './registry/registry-client.ts'

export async function createImageDeps(
  settings: ClusterSettings,
  progress: Progress,
  options: { readonly push: boolean },
): Promise<BuildImagesDeps> {
  const cacheFolder = settings.cacheFolder
  const step = progress.note
  const nodeVersion = (await readFile(join(settings.repository, '.node-version'), 'utf8')).trim()
  const address = registryHost(settings)
  return {
    store: createBlobStore(join(cacheFolder, 'images', 'blobs')),
    recordFolder: join(cacheFolder, 'images', 'layers'),
    registryAddress: address,
    registry: options.push ? createRegistryClient(address) : undefined,
    progress,
    now: () => performance.now(),
    recipes: {
      repositoryFolder: settings.repository,
      cacheFolder,
      run: runCommand,
      step,
      packages: createPackageSource({ run: runCommand, cacheFolder: join(cacheFolder, 'images', 'debian'), step }),
      node: createNodeSource({ run: runCommand, cacheFolder, nodeVersion, step }),
      binary: async (entry, program) => (await ensureBinary(catalog[entry], { settings, progress })).path(program),
    },
  }
}
