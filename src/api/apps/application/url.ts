// Host names below the platform's domain, and the URLs of hosts. Pure.

/** Where people reach the ingress, such as http://localhost:8080: its host is the platform's domain. */
export type IngressAddress = { readonly publicUrl: URL; readonly className: string }

/**
 * `<label>.<namespace>.<platform domain>`: separated by dots, so that no two namespaces can form the same name. The label of an Application that
 * names no domains is its name.
 */
export function platformHost(label: string, namespace: string, { publicUrl }: Pick<IngressAddress, 'publicUrl'>): string {
  return `${label}.${namespace}.${publicUrl.hostname}`
}

/**
 * The URL of a host, with the port under which people reach the ingress; without a trailing slash. With a certificate of its own a host is reached
 * by HTTPS, at the usual port where the platform itself has no TLS.
 */
export function urlOf(host: string, { publicUrl }: Pick<IngressAddress, 'publicUrl'>, certificate = false): string {
  const plain = certificate && publicUrl.protocol === 'http:'
  const url = new URL(plain ? 'https://host' : publicUrl.href)
  url.hostname = host
  url.pathname = '/'
  return url.href.replace(/\/$/, '')
}
