// Pushes a built image and sends only what the registry lacks: nothing when the tag already names this manifest, otherwise the
// missing blobs, mounted from another repository of the registry where possible.
import { readFile } from 'node:fs/promises'
import type { Blob, BlobStore, Digest } from '../blobs/blob-store.ts'
import { type BuiltImage, mediaTypes } from '../image/assemble.ts'
import type { RegistryClient } from './registry-client.ts'

export type PushResult = { readonly changed: boolean; readonly uploadedBytes: number }
export type PushDeps = {
  readonly registry: RegistryClient
  readonly store: BlobStore
  /** Blob → a repository that has it; every push adds to it, so that equal layers are sent once. */
  readonly knownHomes: Map<Digest, string>
}

export async function pushImage(image: BuiltImage, tags: readonly string[], deps: PushDeps): Promise<PushResult> {
  const stale: string[] = []
  for (const tag of tags) {
    if ((await deps.registry.manifestDigest(image.repository, tag, mediaTypes.manifest)) !== image.manifest.digest)
      stale.push(tag)
  }
  let uploadedBytes = 0
  if (stale.length > 0) {
    for (const blob of [...image.layers, image.config]) uploadedBytes += await ensureBlob(image.repository, blob, deps)
    const manifest = await readFile(deps.store.pathOf(image.manifest.digest))
    for (const tag of stale) await deps.registry.putManifest(image.repository, tag, mediaTypes.manifest, manifest)
  }
  for (const layer of image.layers) deps.knownHomes.set(layer.digest, image.repository)
  return { changed: stale.length > 0, uploadedBytes }
}

/** The number of bytes that were sent. */
async function ensureBlob(repository: string, blob: Blob, { registry, store, knownHomes }: PushDeps): Promise<number> {
  if (await registry.hasBlob(repository, blob.digest)) return 0
  const home = knownHomes.get(blob.digest)
  if (home !== undefined && home !== repository && (await registry.mountBlob(repository, blob.digest, home))) return 0
  await registry.uploadBlob(repository, blob.digest, store.pathOf(blob.digest), blob.size)
  return blob.size
}
