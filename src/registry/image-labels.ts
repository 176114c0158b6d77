// Reads the labels of an image from the registry, by digest: the manifest, then the configuration that it names. Both are compared with their
// digests, so what is read is what the digest means, whichever server answers. Sizes and times are bounded; nothing is written.
// Source: https://github.com/opencontainers/distribution-spec (Pull), https://github.com/opencontainers/image-spec (Image Configuration)
import { createHash } from 'node:crypto'
import { asObject, type JsonObject, objectAt, parseJson, textAt } from '../lib/json/json-value.ts'
import type { RegistryReader, RegistryReply } from './registry-reader.ts'

export type ImageLabels =
  | { readonly kind: 'labels'; readonly labels: Readonly<Record<string, string>> }
  /** `permanent`: the same image will not have labels later either. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly permanent: boolean }

const manifestTypes = ['application/vnd.docker.distribution.manifest.v2+json', 'application/vnd.oci.image.manifest.v1+json']
const mostManifestBytes = 1_048_576
const mostConfigurationBytes = 8_388_608
const pinnedImage = /^[^/]+\/(?<repository>[a-z0-9._/-]{1,255})@(?<digest>sha256:[0-9a-f]{64})$/

class Unreadable extends Error {
  readonly permanent: boolean

  constructor(message: string, permanent: boolean) {
    super(message)
    this.permanent = permanent
  }
}

/** `image` must name its digest. Never rejects: what went wrong is part of the answer. */
export async function readImageLabels(read: RegistryReader, image: string): Promise<ImageLabels> {
  try {
    const { repository, digest } = pinnedImage.exec(image)?.groups ?? {}
    if (repository === undefined || digest === undefined) throw new Unreadable('the image is not named by its digest', true)
    const manifest = await verified(read, { repository, path: `manifests/${digest}`, digest, mostBytes: mostManifestBytes })
    const configDigest = textAt(objectAt(manifest, 'config'), 'digest') ?? ''
    if (!/^sha256:[0-9a-f]{64}$/.test(configDigest)) throw new Unreadable('the manifest names no configuration', true)
    const path = `blobs/${configDigest}`
    const content = await verified(read, { repository, path, digest: configDigest, mostBytes: mostConfigurationBytes })
    return { kind: 'labels', labels: labelsOf(content) }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { kind: 'unreadable', message: error.message, permanent: error.permanent }
  }
}

function labelsOf(configuration: JsonObject): Record<string, string> {
  const labels = objectAt(configuration, 'config', 'Labels') ?? {}
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

type Part = { readonly repository: string; readonly path: string; readonly digest: string; readonly mostBytes: number }

/** The content of that digest as JSON. */
async function verified(read: RegistryReader, part: Part): Promise<JsonObject> {
  const { repository, path, digest, mostBytes } = part
  const reply = await read({ repository, path, accept: manifestTypes, mostBytes })
  if (reply.kind === 'failed') throw new Unreadable(`the registry cannot be asked for it: ${reply.message}`, false)
  if (reply.status !== 200) throw new Unreadable(statusText(reply), reply.status === 404)
  if (reply.bytes === undefined) throw new Unreadable(`its ${path.split('/')[0]} are larger than ${mostBytes} bytes`, true)
  const found = `sha256:${createHash('sha256').update(reply.bytes).digest('hex')}`
  if (found !== digest) throw new Unreadable('the registry answered with content of another digest', false)
  const value = asObject(parseJson(reply.bytes.toString('utf8')))
  if (value === undefined) throw new Unreadable('its description is not a JSON object', true)
  return value
}

function statusText({ status }: Extract<RegistryReply, { kind: 'answered' }>): string {
  if (status === 401 || status === 403) return 'the registry refused the credential of the platform'
  return status === 404 ? 'the registry does not have it' : `the registry answered ${status}`
}
