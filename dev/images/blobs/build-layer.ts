// Builds one layer: entries → tar → gzip → blob. Its key stands for everything it is made from; for a key that was built
// before, a small record gives the result, and nothing is read, packed or compressed again.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import type { TreeEntry } from '../archive/tree-entry.ts'
import { writeTar } from '../archive/write-tar.ts'
import { type Blob, type BlobStore, createMeter, type Digest, digestOf } from './blob-store.ts'

export type LayerPlan = {
  readonly name: string
  /** Everything on which the content depends; equal keys must mean equal entries. */
  readonly key: readonly string[]
  readonly entries: () => Promise<readonly TreeEntry[]>
}

/** `diffId` is the digest of the tar, `digest` that of the compressed blob (OCI image spec, config.md "Layer DiffID"). */
export type Layer = Blob & { readonly name: string; readonly diffId: Digest; readonly built: boolean }

type LayerRecord = { readonly diffId: Digest; readonly digest: Digest; readonly size: number }

/** Part of every key: change it with the way of packing, so that old records are not used. */
const packingVersion = '1'

/** Level 3: at most a tenth larger than the default level in a third of its time; layers travel over loopback only. */
const compression = { level: 3, strategy: constants.Z_DEFAULT_STRATEGY }

export async function buildLayer(plan: LayerPlan, store: BlobStore, recordFolder: string): Promise<Layer> {
  const key = digestOf(JSON.stringify([packingVersion, plan.name, ...plan.key])).slice('sha256:'.length)
  const recordFile = join(recordFolder, `${key}.json`)
  const known = await readRecord(recordFile)
  if (known && (await store.has(known.digest))) return { name: plan.name, ...known, built: false }

  const tar = createMeter()
  const archive = tar.through(writeTar(await plan.entries()))
  const blob = await pipeline(archive, createGzip(compression), compressed => store.putStream(compressed))
  const record: LayerRecord = { diffId: tar.result().digest, digest: blob.digest, size: blob.size }
  await mkdir(recordFolder, { recursive: true })
  await writeFile(`${recordFile}.${process.pid}`, JSON.stringify(record))
  await rename(`${recordFile}.${process.pid}`, recordFile)
  return { name: plan.name, ...record, built: true }
}

async function readRecord(file: string): Promise<LayerRecord | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  // The cache belongs to this program: a record has the shape in which it was written above.
  return text === undefined ? undefined : (JSON.parse(text) as LayerRecord)
}
