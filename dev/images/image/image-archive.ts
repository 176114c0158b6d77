// Writes a built image as one tar in the OCI image layout (image-layout.md) for `ctr images import` and `skopeo`, to bring it
// to a node without a registry. containerd reads the name from the annotation.
import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type TreeEntry, textFile } from '../archive/tree-entry.ts'
import { writeTar } from '../archive/write-tar.ts'
import type { Blob, BlobStore } from '../blobs/blob-store.ts'
import { type BuiltImage, mediaTypes } from './assemble.ts'

/** `reference` is the full name of the image on the node, for example `10.88.0.1:5000/cnb/run:1`. */
export async function writeImageArchive(image: BuiltImage, reference: string, store: BlobStore, file: string): Promise<void> {
  const blobs = new Map<string, Blob>([image.manifest, image.config, ...image.layers].map(blob => [blob.digest, blob]))
  const index = {
    schemaVersion: 2,
    manifests: [
      {
        mediaType: mediaTypes.manifest,
        digest: image.manifest.digest,
        size: image.manifest.size,
        annotations: { 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': image.tag },
      },
    ],
  }
  const entries: TreeEntry[] = [
    textFile('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
    textFile('index.json', JSON.stringify(index)),
    ...[...blobs.values()].map(
      (blob): TreeEntry => ({
        kind: 'file',
        path: `blobs/${blob.digest.replace(':', '/')}`,
        mode: 0o644,
        uid: 0,
        gid: 0,
        source: { kind: 'path', path: store.pathOf(blob.digest), size: blob.size },
      }),
    ),
  ]
  const unfinished = `${file}.${process.pid}`
  await pipeline(writeTar(entries), createWriteStream(unfinished))
  await rename(unfinished, file)
}
