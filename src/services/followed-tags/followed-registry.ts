// A registry whose tags the platform may ask for: one item of the administrators' list. Pure. Every address that is asked comes
// from this list; what a tenant writes only chooses an item of it.
// Source: https://distribution.github.io/distribution/spec/auth/token/ (the realm),
// https://docs.docker.com/reference/api/registry/latest/ (docker.io)
import { canonicalHost } from '../registry/image-place.ts'

export type FollowedRegistry = {
  /** As image references name it, in canonical form. */
  readonly host: string
  /** Where it answers, such as `https://ghcr.io`. */
  readonly origin: string
  /** The hosts of its token server. */
  readonly tokenHosts: readonly string[]
  /** Whether it may be asked without TLS, and its token server too. */
  readonly insecure: boolean
}

const itemPattern = /^(http:\/\/)?([a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?)(?:=([a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?))?$/
/** The name in references is not the host that answers. */
const dockerHub = { name: 'docker.io', host: 'registry-1.docker.io', tokenHost: 'auth.docker.io' } as const

/**
 * `ghcr.io`; `registry.gitlab.com=gitlab.com`, whose token server has another host; `http://registry.internal:5000` without TLS.
 * @throws Error that continues the sentence “SEKISHO_FOLLOWED_REGISTRIES …”
 */
export function followedRegistry(item: string): FollowedRegistry {
  const [, plain, named, tokenHost] = itemPattern.exec(item) ?? []
  if (named === undefined || canonicalHost(named) !== named)
    throw new Error(
      `holds ${item.slice(0, 100)}; it must hold only hosts in lower case such as ghcr.io, registry.gitlab.com=gitlab.com for a token server at another host, or http://registry.internal:5000 without TLS`,
    )
  const insecure = plain !== undefined
  const hub = named === dockerHub.name ? dockerHub : undefined
  const host = hub?.host ?? named
  const tokenHosts = [host, ...(tokenHost === undefined ? [] : [tokenHost]), ...(hub === undefined ? [] : [hub.tokenHost])]
  return { host: named, origin: `${insecure ? 'http' : 'https'}://${host}`, tokenHosts, insecure }
}

/**
 * Whether the token server that a registry names may be asked: at a host of the list, and without TLS only where that is said.
 */
export function mayGiveTokens({ tokenHosts, insecure }: FollowedRegistry, { protocol, host }: URL): boolean {
  return tokenHosts.includes(host) && (protocol === 'https:' || (insecure && protocol === 'http:'))
}
