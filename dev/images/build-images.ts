// Builds images by name and pushes them to the registry when asked. A repeated build without changes reads a few small files and
// makes one registry request per tag.
import type { Progress } from '../cluster/progress.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { assembleImage, type BuiltImage } from './image/assemble.ts'
import { type ImageName, recipes } from './recipes/catalog.ts'
import type { RecipeDeps } from './recipes/recipe.ts'
import { type PushDeps, pushImage } from './registry/push-image.ts'
import type { RegistryClient } from './registry/registry-client.ts'

export type ImageResult = {
  readonly name: ImageName
  /** Registry, repository and a tag derived from the content: other content has another reference. */
  readonly reference: string
  /** The reference by digest, for kinds that resolve a tag only once. */
  readonly pinned: string
  readonly digest: string
  readonly bytes: number
  readonly uploadedBytes: number
  readonly pushed: boolean
  readonly seconds: number
  readonly image: BuiltImage
}

export type BuildImagesDeps = {
  readonly recipes: RecipeDeps
  readonly store: BlobStore
  readonly recordFolder: string
  /** The registry of an image: the node's own for what runs before tokens can be issued, else the one of the cluster. */
  readonly registryOf: (name: ImageName) => TargetRegistry
  readonly progress: Progress
  readonly now: () => number
}

export type TargetRegistry = {
  readonly address: string
  /** Absent: images are built and stay in the local store. */
  readonly client: RegistryClient | undefined
}

const tagLength = 16

export async function buildImages(names: readonly ImageName[], deps: BuildImagesDeps): Promise<readonly ImageResult[]> {
  const knownHomes = new Map<string, PushDeps['knownHomes']>()
  const results: ImageResult[] = []
  for (const name of names) {
    const start = deps.now()
    const image = await assembleImage(await recipes[name](deps.recipes), {
      store: deps.store,
      recordFolder: deps.recordFolder,
      onLayer: layer => layer.built && deps.progress.note(`${name}: layer ${layer.name}, ${megabytes(layer.size)}`),
    })
    const contentTag = image.manifest.digest.slice('sha256:'.length).slice(0, tagLength)
    const { address, client } = deps.registryOf(name)
    const homes = knownHomes.get(address) ?? new Map()
    knownHomes.set(address, homes)
    const push = client
      ? await pushImage(image, [image.tag, contentTag], { registry: client, store: deps.store, knownHomes: homes })
      : { changed: false, uploadedBytes: 0 }
    const home = `${address}/${image.repository}`
    const result: ImageResult = {
      name,
      image,
      reference: `${home}:${contentTag}`,
      pinned: `${home}@${image.manifest.digest}`,
      digest: image.manifest.digest,
      bytes: image.layers.reduce((sum, layer) => sum + layer.size, 0),
      uploadedBytes: push.uploadedBytes,
      pushed: push.changed,
      seconds: (deps.now() - start) / 1000,
    }
    results.push(result)
    deps.progress.note(`${name}: ${summary(result, client !== undefined)}`)
  }
  return results
}

function summary(result: ImageResult, pushing: boolean): string {
  const sent = !pushing
    ? 'not pushed'
    : result.pushed
      ? `${megabytes(result.uploadedBytes)} uploaded`
      : 'unchanged in the registry'
  return `${megabytes(result.bytes)}, ${sent}, ${result.seconds.toFixed(1)} s`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
