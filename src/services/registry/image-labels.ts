// Reads how an image describes itself (labels, entry point, ports) from the registry, by digest: the manifest, then the
// configuration that it names. Both are compared with their digests, so what is read is what the digest means, whichever server
// answers. Sizes and times are bounded; nothing is written.
// Source: https://github.com/opencontainers/distribution-spec (Pull), https://github.com/opencontainers/image-spec (Image
// Configuration)
import { BoundedMap } from '../../lib/bounded-map.ts'
import { defined } from '../../lib/json/defined.ts'
import { isNestedDeeper } from '../../lib/json/json-depth.ts'
import { asObject, type JsonObject, listAt, objectAt, objectsAt, parseJson, textAt } from '../../lib/json/json-value.ts'
import { digestOfContent, isDigest, pinnedImage } from '../../lib/text/image-digest.ts'
import type { RegistryReader, RegistryReply } from './registry-reader.ts'

export type LifecycleUser = { readonly user: number; readonly group: number }

export type ImageLabels =
  | {
      readonly kind: 'labels'
      readonly labels: Readonly<Record<string, string>>
      /** The program that runs when nothing else is said. */
      readonly entryPoint: readonly string[]
      /** The TCP ports that the image says it listens on, in ascending order. */
      readonly ports: readonly number[]
      /** Of a build image: as whom the phases of the lifecycle run, and whose the files of an image are. */
      readonly lifecycleUser?: LifecycleUser
    }
  /** `permanent`: the same image will not have labels later either. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly permanent: boolean }

const indexTypes = ['application/vnd.docker.distribution.manifest.list.v2+json', 'application/vnd.oci.image.index.v1+json']
/** What an image by tag or digest may be. */
export const manifestTypes: readonly string[] = [
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  ...indexTypes,
]
const maxManifestBytes = 1_048_576
const maxConfigurationBytes = 8_388_608
/** Both formats have fewer than ten (OCI image specification). */
const maxLevels = 64
const maxId = 2 ** 31 - 1

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
    const { repository, digest } = pinnedImage(image) ?? {}
    if (repository === undefined || digest === undefined) throw new Unreadable('the image is not named by its digest', true)
    const manifestOf = (of: string): Promise<JsonObject> =>
      verified(read, { repository, path: `manifests/${of}`, digest: of, maxBytes: maxManifestBytes })
    const first = await manifestOf(digest)
    const manifest = indexTypes.includes(textAt(first, 'mediaType') ?? '') ? await manifestOf(ofLinux(first)) : first
    const configDigest = textAt(objectAt(manifest, 'config'), 'digest') ?? ''
    if (!isDigest(configDigest)) throw new Unreadable('the manifest names no configuration', true)
    const path = `blobs/${configDigest}`
    const content = await verified(read, { repository, path, digest: configDigest, maxBytes: maxConfigurationBytes })
    return {
      kind: 'labels',
      labels: labelsOf(content),
      entryPoint: entryPointOf(content),
      ports: portsOf(content),
      ...defined({ lifecycleUser: lifecycleUserOf(content) }),
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { kind: 'unreadable', message: error.message, permanent: error.permanent }
  }
}

function labelsOf(configuration: JsonObject): Record<string, string> {
  const labels = objectAt(configuration, 'config', 'Labels') ?? {}
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

/**
 * The image for Linux in an index of images for several platforms: they are built from one source and describe themselves
 * alike.
 */
function ofLinux(index: JsonObject): string {
  const found = objectsAt(index, 'manifests').find(item => textAt(objectAt(item, 'platform'), 'os') === 'linux')
  const digest = textAt(found, 'digest') ?? ''
  if (!isDigest(digest)) throw new Unreadable('the index names no image for Linux', true)
  return digest
}

function entryPointOf(configuration: JsonObject): readonly string[] {
  const inner = objectAt(configuration, 'config')
  return ['Entrypoint', 'Cmd'].flatMap(field => listAt(inner, field)).filter(part => typeof part === 'string')
}

function portsOf(configuration: JsonObject): readonly number[] {
  return Object.keys(objectAt(configuration, 'config', 'ExposedPorts') ?? {})
    .flatMap(text => /^([1-9][0-9]{0,4})(\/tcp)?$/.exec(text)?.[1] ?? [])
    .map(Number)
    .filter(port => port <= 65_535)
    .sort((a, b) => a - b)
}

/**
 * Nothing else of the environment is read: it may hold what a tenant keeps to itself. Root does not build
 * (https://github.com/buildpacks/spec/blob/main/platform.md#build-image).
 */
function lifecycleUserOf(configuration: JsonObject): LifecycleUser | undefined {
  const environment = listAt(objectAt(configuration, 'config'), 'Env').filter(entry => typeof entry === 'string')
  const id = (name: string): number =>
    Number(environment.find(entry => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? Number.NaN)
  const [user, group] = [id('CNB_USER_ID'), id('CNB_GROUP_ID')]
  const isUsable = [user, group].every(value => Number.isInteger(value) && value > 0 && value <= maxId)
  return isUsable ? { user, group } : undefined
}

type Part = { readonly repository: string; readonly path: string; readonly digest: string; readonly maxBytes: number }

/** The content of that digest as JSON. */
async function verified(read: RegistryReader, part: Part): Promise<JsonObject> {
  const { repository, path, digest, maxBytes } = part
  const reply = await read({ repository, path, accept: manifestTypes, maxBytes })
  if (reply.kind === 'failed') throw new Unreadable(`the registry cannot be asked for it: ${reply.message}`, false)
  if (reply.status !== 200) throw new Unreadable(statusText(reply), reply.status === 404)
  if (reply.bytes === undefined) throw new Unreadable(`its ${path.split('/')[0]} are larger than ${maxBytes} bytes`, true)
  const found = digestOfContent(reply.bytes)
  if (found !== digest) throw new Unreadable('the registry answered with content of another digest', false)
  if (isNestedDeeper(reply.bytes, maxLevels)) throw new Unreadable(`its ${path.split('/')[0]} are nested too deeply`, true)
  const value = asObject(parseJson(reply.bytes.toString('utf8')))
  if (value === undefined) throw new Unreadable('its description is not a JSON object', true)
  return value
}

function statusText({ status }: Extract<RegistryReply, { kind: 'answered' }>): string {
  if (status === 401 || status === 403) return 'the registry refused the credential of the platform'
  return status === 404 ? 'the registry does not have it' : `the registry answered ${status}`
}

const maxKept = 256
/** In UTF-16 units: 16 MB for all that is kept. Labels of buildpacks have 5 to 50 thousand. */
const maxKeptLength = 65_536

// Memory (labels of images): image by digest → labels, entry point, ports, user of the lifecycle
//   life: the process
//   bound: 256 images of at most 64 KB, the one read first forgotten first
//   freshness: none is needed: what a digest means never changes
//   replicas: each reads
/** Reads each image once while it is among the 256 that were read last. What cannot be read is not kept: a retry may succeed. */
export function keepingLabels(read: (image: string) => Promise<ImageLabels>): (image: string) => Promise<ImageLabels> {
  const kept = new BoundedMap<ImageLabels>(maxKept)
  return async image => {
    const known = kept.get(image)
    if (known !== undefined) return known
    const answer = await read(image)
    if (answer.kind === 'labels' && JSON.stringify(answer).length <= maxKeptLength) kept.set(image, answer)
    return answer
  }
}
