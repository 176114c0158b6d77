// The addresses of a GitHub host: its web pages and its REST API. They follow from the host name unless the ClusterGitHubApp
// names others. Only a platform admin writes these values; they are never taken from a tenant or a request (server-side request
// forgery).
// Source: https://docs.github.com/en/enterprise-server/rest/using-the-rest-api/getting-started-with-the-rest-api ,
// https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency (GHE.com).

/** `host` is the identity under which ids are unique; `web` and `api` are base URLs without a trailing slash. */
export type GitHubEndpoints = { readonly host: string; readonly web: string; readonly api: string }

type EndpointSource = { readonly host: string; readonly endpoints?: { readonly web: string; readonly api: string } }

/** The endpoints of a host: those of the spec, or else the standard ones of github.com, GHE.com and GHES. */
export function endpointsOf(spec: EndpointSource): GitHubEndpoints {
  const { host } = spec
  if (spec.endpoints) return { host, web: withoutSlash(spec.endpoints.web), api: withoutSlash(spec.endpoints.api) }
  if (host === 'github.com') return { host, web: 'https://github.com', api: 'https://api.github.com' }
  if (host.endsWith('.ghe.com')) return { host, web: `https://${host}`, api: `https://api.${host}` }
  return { host, web: `https://${host}`, api: `https://${host}/api/v3` }
}

/** The page on which a person installs the App; GHES has another path. GitHub returns `state` unless an owner has to approve. */
export function installationPage(endpoints: GitHubEndpoints, slug: string, state: string): string {
  const shared = endpoints.host === 'github.com' || endpoints.host.endsWith('.ghe.com')
  const url = new URL(`${endpoints.web}/${shared ? 'apps' : 'github-apps'}/${encodeURIComponent(slug)}/installations/new`)
  url.searchParams.set('state', state)
  return url.href
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
