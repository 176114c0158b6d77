// The address, TLS settings and credentials of one API server, whatever their source. It sends nothing.
import type { SecretString } from '../../lib/secret-string.ts'

export type KubeTls = {
  /** PEM. Absent: the system's root certificates. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: SecretString | undefined
  /** The host name that the server's certificate must have, when it differs from the URL's. */
  readonly servername?: string | undefined
  /** True only when the kubeconfig sets `insecure-skip-tls-verify`. */
  readonly insecure?: boolean | undefined
}

export type KubeConnection = {
  readonly server: URL
  readonly tls: KubeTls
  /** The Authorization header, renewed as its source requires. `fresh` reads it from the source again, after a 401. */
  readonly authorization: (options?: { readonly fresh?: boolean }) => Promise<SecretString | undefined>
}
