// Layers are built once per key and described by the right digests.
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textFile } from '../archive/tree-entry.ts'
import { type BlobStore, createBlobStore } from './blob-store.ts'
import { buildLayer, type Layer, type LayerPlan } from './build-layer.ts'

let scratch = ''
let store: BlobStore
let packed = 0
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sekisho-layer-'))
  store = createBlobStore(join(scratch, 'blobs'))
  packed = 0
})
afterEach(() => rm(scratch, { recursive: true, force: true }))

function plan(key: string, entries: LayerPlan['entries'] = async () => [textFile('a', key)]): LayerPlan {
  return {
    name: 'layer',
    key: [key],
    entries: () => {
      packed++
      return entries()
    },
  }
}

function build(layer: LayerPlan): Promise<Layer> {
  return buildLayer(layer, store, join(scratch, 'records'))
}

test('digest and size are those of the compressed blob, the diff id is that of the tar', async () => {
  const layer = await build(plan('1'))
  const blob = await readFile(store.pathOf(layer.digest))
  const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  expect([layer.digest, layer.size, layer.diffId]).toEqual([sha256(blob), blob.length, sha256(gunzipSync(blob))])
})

test('an equal key is not packed again, another key is packed', async () => {
  const first = await build(plan('1'))
  expect(await build(plan('1'))).toEqual({ ...first, built: false })
  expect(packed).toBe(1)
  expect((await build(plan('2'))).digest).not.toBe(first.digest)
})

test('a record whose blob is missing is not used', async () => {
  const first = await build(plan('1'))
  await rm(store.pathOf(first.digest))
  expect(await build(plan('1'))).toEqual(first)
  expect(await store.has(first.digest)).toBe(true)
})

test('a layer that cannot be packed leaves neither blob nor record', async () => {
  const broken = plan('1', async () => {
    throw new Error('no such package')
  })
  await expect(build(broken)).rejects.toThrow('no such package')
  expect(await readdir(scratch).then(names => names.includes('records'))).toBe(false)
  const left = await readdir(join(scratch, 'blobs'), { recursive: true, withFileTypes: true }).catch(() => [])
  expect(left.filter(entry => entry.isFile())).toEqual([])
})
