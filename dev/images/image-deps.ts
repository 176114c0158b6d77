// Creates the image builder's dependencies from the settings of the local cluster, for the command line here and for dev/kpack.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { isAccessible } from '../cluster/file-access.ts'
import { registryTokens } from '../cluster/node/services/registry.ts'
import { registryAuthorityFiles } from '../cluster/pki/registry-authority.ts'
import type { Progress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { type ClusterSettings, devClusterFolder, nodeRegistryHost, registryHost } from '../cluster/settings.ts'
import { createBlobStore } from './blobs/blob-store.ts'
import type { BuildImagesDeps } from './build-images.ts'
import { createPackageSource } from './debian/package-source.ts'
import { createNodeSource } from './node-source.ts'
import type { ImageName } from './recipes/catalog.ts'
import { createPushTokens } from './registry/push-token.ts'
import { createRegistryClient, type RegistryClient } from './registry/registry-client.ts'

/** They run before the platform, which issues the tokens of the other registry. */
const startedFirst: readonly ImageName[] = ['sekisho', 'kpack']

export async function createImageDeps(
  settings: ClusterSettings,
  progress: Progress,
  options: { readonly push: boolean },
): Promise<BuildImagesDeps> {
  const cacheFolder = settings.cacheFolder
  const step = progress.note
  const nodeVersion = (await readFile(join(settings.repository, '.node-version'), 'utf8')).trim()
  const pki = join(devClusterFolder(settings), 'pki')
  const authority = join(pki, 'ca.crt')
  const tokens = createPushTokens(registryAuthorityFiles(pki), registryTokens)
  const target = (address: string, client: () => RegistryClient) => ({ address, client: options.push ? client() : undefined })
  const nodes = target(nodeRegistryHost(settings), () => createRegistryClient(nodeRegistryHost(settings)))
  const shared = target(registryHost(settings), () => createRegistryClient(registryHost(settings), tokens))
  return {
    store: createBlobStore(join(cacheFolder, 'images', 'blobs')),
    recordFolder: join(cacheFolder, 'images', 'layers'),
    registryOf: name => (startedFirst.includes(name) ? nodes : shared),
    progress,
    now: () => performance.now(),
    recipes: {
      repositoryFolder: settings.repository,
      cacheFolder,
      ...((await isAccessible(authority)) ? { authorityFile: authority } : {}),
      run: runCommand,
      step,
      packages: createPackageSource({ run: runCommand, cacheFolder: join(cacheFolder, 'images', 'debian'), step }),
      node: createNodeSource({ run: runCommand, cacheFolder, nodeVersion, step }),
      binary: async (entry, program) => (await ensureBinary(catalog[entry], { settings, progress })).path(program),
    },
  }
}
