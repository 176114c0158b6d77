// Where an image reference points: below the path of which tenant, or elsewhere. Pure. Every spelling of the platform's
// registry counts: upper case, default ports, numeric forms of an address, and the aliases that the operator names.
// Source: https://github.com/distribution/reference (grammar), containerd's reference rules for the default registry
import { isBelow, isRepositoryName } from './repository.ts'

/** `host[:port][/path]` of the tenants' images, and other names of the same host. */
export type RegistryPlace = { readonly registry: string; readonly aliases: readonly string[] }

export type ImagePlace =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'tenant'; readonly namespace: string }
  /** In the platform's registry, but not the name of a repository. */
  | { readonly kind: 'malformed' }

export type Reference = {
  readonly host: string
  readonly path: string
  /** Without tag and digest, as written. */
  readonly name: string
  readonly tag: string | undefined
}

const defaultHost = 'docker.io'

/** Lower case, without a default port, and the dotted form of numeric addresses: as the WHATWG URL standard compares hosts. */
export function canonicalHost(host: string): string {
  const url = `https://${host.toLowerCase()}`
  return (URL.canParse(url) ? new URL(url).host : host.toLowerCase()).replace(/:80$/, '')
}

/**
 * The first part is a host when it has a dot, a port or upper case, or is `localhost`; otherwise the default registry is meant.
 */
export function parseReference(reference: string): Reference {
  const [withTag = ''] = reference.split('@')
  const slash = withTag.lastIndexOf('/')
  const colon = withTag.lastIndexOf(':')
  const [name, tag] = colon > slash ? [withTag.slice(0, colon), withTag.slice(colon + 1)] : [withTag, undefined]
  const [first = '', ...rest] = name.split('/')
  const isHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost')
  if (isHost) return { host: canonicalHost(first), path: rest.join('/'), name, tag }
  return { host: defaultHost, path: rest.length === 0 ? `library/${name}` : name, name, tag }
}

/** The host of a registry address such as `registry.example.com/apps`, and the path below it. */
export function splitRegistry(registry: string): { readonly host: string; readonly path: string } {
  const slash = registry.indexOf('/')
  if (slash < 0) return { host: registry, path: '' }
  return { host: registry.slice(0, slash), path: registry.slice(slash + 1).replace(/\/+$/, '') }
}

export function placeOfImage(image: string, place: RegistryPlace): ImagePlace {
  const { host, path } = splitRegistry(place.registry)
  const reference = parseReference(image)
  const hosts = [host, ...place.aliases].map(canonicalHost)
  if (!hosts.includes(reference.host)) return { kind: 'elsewhere' }
  const name = reference.path.toLowerCase()
  if (!isRepositoryName(name)) return { kind: 'malformed' }
  if (path !== '' && !isBelow(name, path)) return { kind: 'elsewhere' }
  const [namespace = '', ...rest] = (path === '' ? name : name.slice(path.length + 1)).split('/')
  return rest.length === 0 ? { kind: 'malformed' } : { kind: 'tenant', namespace }
}
