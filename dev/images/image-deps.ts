// Creates the image builder's dependencies from the settings of the local cluster, for the command line here and for dev/kpack.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processEnvironment, readSettings } from '../../src/lib/config.ts'
import { AppError } from '../../src/lib/errors.ts'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { isAccessible } from '../cluster/file-access.ts'
import { registryTokens } from '../cluster/node/services/registry.ts'
import { registryAuthorityFiles } from '../cluster/pki/registry-authority.ts'
import type { Progress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { type ClusterSettings, devClusterFolder, givenState, nodeRegistryHost, registryHost } from '../cluster/settings.ts'
import { createBlobStore } from './blobs/blob-store.ts'
import type { BuildImagesDeps, TargetRegistry } from './build-images.ts'
import { createPackageSource } from './debian/package-source.ts'
import { createNodeSource } from './node-source.ts'
import type { ImageName } from './recipes/catalog.ts'
import { authorizeAt, basicOf, givenRegistrySettings, parseGivenRegistry } from './registry/given-registry.ts'
import { createPushTokens, type PushTokens } from './registry/push-token.ts'
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
  const own = settings.givenKubeconfig === undefined ? settings : givenState(settings)
  const authority = join(devClusterFolder(own), 'pki', 'ca.crt')
  const registryOf = registriesOf(settings)
  return {
    store: createBlobStore(join(cacheFolder, 'images', 'blobs')),
    recordFolder: join(cacheFolder, 'images', 'layers'),
    registryOf: name => {
      const target = registryOf(name)
      return options.push ? target : { ...target, client: undefined }
    },
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

type Registries = (name: ImageName) => TargetRegistry

function registriesOf(settings: ClusterSettings): Registries {
  return settings.givenKubeconfig === undefined ? localRegistries(settings) : givenRegistry(settings)
}

/**
 * The registry of the tenants' images, read as who pushes what builds begin from. Throws `invalid_configuration` as `make up`
 * does.
 */
export function sharedRegistry(settings: ClusterSettings): RegistryClient {
  const { address, client } = registriesOf(settings)('run')
  if (client === undefined) throw new AppError('internal', `there is no client for the registry ${address}`)
  return client
}

function localRegistries(settings: ClusterSettings): Registries {
  const tokens = createPushTokens(registryAuthorityFiles(join(devClusterFolder(settings), 'pki')), registryTokens)
  const nodes = nodeRegistryHost(settings)
  const shared = registryHost(settings)
  const authorize = async (access: Parameters<typeof tokens>[0]): Promise<string> => `Bearer ${await tokens(access)}`
  return name =>
    startedFirst.includes(name)
      ? { address: nodes, client: createRegistryClient(nodes) }
      : { address: shared, client: createRegistryClient(shared, { authorize }) }
}

/** The image of the platform may have another registry than the images of builds. */
function givenRegistry(settings: ClusterSettings): Registries {
  const values = readSettings(givenRegistrySettings, processEnvironment())
  if (values.registry === undefined)
    throw new AppError(
      'invalid_configuration',
      'KUBECONFIG is set, and SEKISHO_UP_REGISTRY is not: make up says what else is needed',
    )
  const files = registryAuthorityFiles(join(devClusterFolder(givenState(settings)), 'pki'))
  const target = (reference: string, tokens: PushTokens | undefined): TargetRegistry => {
    const registry = parseGivenRegistry(reference)
    const { host, prefix, scheme } = registry
    const authorize = authorizeAt(registry, { basic: basicOf(values.registryCredentials?.reveal(), host), tokens })
    return { address: reference, client: createRegistryClient(host, { authorize, scheme, prefix }) }
  }
  const shared = target(
    values.registry,
    values.registryAuthentication === 'token-server' ? createPushTokens(files, registryTokens) : undefined,
  )
  const own = values.platformRegistry === undefined ? shared : target(values.platformRegistry, undefined)
  return name => (name === 'sekisho' ? own : shared)
}
