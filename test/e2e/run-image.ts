// A newer run image for the builder of the cluster: the present one with one more layer, as an update of the operating system
// brings it.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { registryTokens } from '../../dev/cluster/node/services/registry.ts'
import { registryAuthorityFiles } from '../../dev/cluster/pki/registry-authority.ts'
import { type ClusterSettings, devClusterFolder, registryHost } from '../../dev/cluster/settings.ts'
import { createPushTokens } from '../../dev/images/registry/push-token.ts'
import { createRegistryClient } from '../../dev/images/registry/registry-client.ts'

type Digest = `sha256:${string}`
type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number }
type Manifest = { readonly mediaType: string; readonly config: Descriptor; readonly layers: readonly Descriptor[] }
type Configuration = {
  readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] }
  readonly history?: readonly object[]
}

const digestOf = (bytes: Uint8Array): Digest => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A tar archive with this file in its root, of root. */
async function archiveOf(folder: string, name: string, text: string): Promise<Buffer> {
  await writeFile(join(folder, name), text, { mode: 0o644 })
  const archive = join(folder, 'layer.tar')
  await promisify(execFile)('tar', ['--owner=0', '--group=0', '-cf', archive, '-C', folder, name])
  return readFile(archive)
}

/** Pushes the image with a file more in its root directory; resolves to its reference by digest. */
export async function withFile(settings: ClusterSettings, image: string, name: string, text: string): Promise<string> {
  const host = registryHost(settings)
  const [, repository = '', digest = ''] = /^[^/]+\/(.+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? []
  const tokens = createPushTokens(registryAuthorityFiles(join(devClusterFolder(settings), 'pki')), registryTokens)
  const registry = createRegistryClient(host, { authorize: async access => `Bearer ${await tokens(access)}` })
  const get = async <T>(path: string, accept: string): Promise<T> => {
    const authorization = `Bearer ${await tokens([{ name: repository, actions: ['pull'] }])}`
    const { statusCode, body } = await request(`http://${host}/v2/${repository}/${path}`, { headers: { authorization, accept } })
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${await body.text()}`)
    return (await body.json()) as T
  }
  const types = 'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'
  const manifest = await get<Manifest>(`manifests/${digest}`, types)
  const configuration = await get<Configuration>(`blobs/${manifest.config.digest}`, '*/*')
  const folder = await mkdtemp(join(tmpdir(), 'run-image-'))
  try {
    const archive = await archiveOf(folder, name, text)
    const push = async (bytes: Uint8Array, mediaType: string): Promise<Descriptor> => {
      const file = join(folder, 'blob')
      await writeFile(file, bytes)
      const pushed = digestOf(bytes)
      await registry.uploadBlob(repository, pushed, file, bytes.length)
      return { mediaType, digest: pushed, size: bytes.length }
    }
    const layer = await push(gzipSync(archive), manifest.layers[0]?.mediaType ?? '')
    const { rootfs, history = [] } = configuration
    const next = {
      ...configuration,
      rootfs: { ...rootfs, diff_ids: [...rootfs.diff_ids, digestOf(archive)] },
      ...(history.length === 0 ? {} : { history: [...history, { created_by: `adds ${name}` }] }),
    }
    const config = await push(Buffer.from(JSON.stringify(next)), manifest.config.mediaType)
    const bytes = Buffer.from(JSON.stringify({ ...manifest, config, layers: [...manifest.layers, layer] }))
    await registry.putManifest(repository, name.replaceAll('.', '-'), manifest.mediaType, bytes)
    return `${host}/${repository}@${digestOf(bytes)}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
