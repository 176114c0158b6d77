// Host names below the platform's domain, and the URLs of hosts. Pure.

/**
 * Where people reach the ingress, such as http://localhost:8080: its host is the platform's domain. `tlsPort`: where they reach
 * it by HTTPS when this URL has none; 443 when left out.
 */
export type IngressAddress = { readonly publicUrl: URL; readonly className: string; readonly tlsPort?: number }

/**
 * `<label>.<namespace>.<platform domain>`: separated by dots, so that no two namespaces can form the same name. The label of an
 * Application that names no domains is its name.
 */
export function platformHost(label: string, namespace: string, { publicUrl }: Pick<IngressAddress, 'publicUrl'>): string {
  return `${label}.${namespace}.${publicUrl.hostname}`
}

/**
 * The URL of a host, with the port under which people reach the ingress; without a trailing slash. With a certificate of its
 * own a host is reached by HTTPS, also where the platform itself has no TLS.
 */
export function urlOf(host: string, ingress: Pick<IngressAddress, 'publicUrl' | 'tlsPort'>, certificate = false): string {
  const { publicUrl, tlsPort = 443 } = ingress
  const url = new URL(certificate && publicUrl.protocol === 'http:' ? `https://host:${tlsPort}` : publicUrl.href)
  url.hostname = host
  url.pathname = '/'
  return url.href.replace(/\/$/, '')
}
