// Combines layers and configuration into a Docker v2 schema 2 image (distribution spec "Image Manifest Version 2, Schema 2").
// Docker's media types, not OCI's: kpack appends Docker layers, and registries refuse a mixed manifest.
import { defined } from '../../../src/lib/json/defined.ts'
import type { Blob, BlobStore } from '../blobs/blob-store.ts'
import { buildLayer, type Layer } from '../blobs/build-layer.ts'
import type { ImageConfig, ImagePlan } from './image-plan.ts'

export type BuiltImage = {
  readonly repository: string
  readonly tag: string
  readonly layers: readonly Layer[]
  readonly config: Blob
  readonly manifest: Blob
}

export const mediaTypes = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const

/** Node's processor names → those of the registry. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export type AssembleDeps = { readonly store: BlobStore; readonly recordFolder: string; readonly onLayer: (layer: Layer) => void }

export async function assembleImage(plan: ImagePlan, deps: AssembleDeps): Promise<BuiltImage> {
  const layers: Layer[] = []
  for (const layerPlan of plan.layers) {
    const layer = await buildLayer(layerPlan, deps.store, deps.recordFolder)
    deps.onLayer(layer)
    layers.push(layer)
  }
  const config = await deps.store.put(encode(configDocument(plan.config(layers), layers)))
  const manifest = await deps.store.put(encode(manifestDocument(config, layers)))
  return { repository: plan.repository, tag: plan.tag, layers, config, manifest }
}

export function configDocument(config: ImageConfig, layers: readonly Layer[]): object {
  return {
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    created: '1980-01-01T00:00:01Z',
    config: {
      User: config.user,
      Env: Object.entries(config.environment).map(([name, value]) => `${name}=${value}`),
      ...defined({ WorkingDir: config.workingFolder, Entrypoint: config.entrypoint }),
      Labels: config.labels ?? {},
    },
    rootfs: { type: 'layers', diff_ids: layers.map(layer => layer.diffId) },
    history: layers.map(layer => ({ created: '1980-01-01T00:00:01Z', created_by: layer.name })),
  }
}

export function manifestDocument(config: Blob, layers: readonly Layer[]): object {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, size: config.size, digest: config.digest },
    layers: layers.map(layer => ({ mediaType: mediaTypes.layer, size: layer.size, digest: layer.digest })),
  }
}

function encode(document: object): Uint8Array {
  return Buffer.from(JSON.stringify(document))
}
