// What is needed to speak to one API server, wherever it came from. No bytes move here.
import type { SecretString } from '../../lib/secret-string.ts'

export type KubeTls = {
  /** PEM. Absent: the system's roots. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: SecretString | undefined
  /** The name the server's certificate must have, when it is not the one of the URL. */
  readonly servername?: string | undefined
  /** True only where a kubeconfig says `insecure-skip-tls-verify`. */
  readonly insecure?: boolean | undefined
}

export type KubeConnection = {
  readonly server: URL
  readonly tls: KubeTls
  /** The Authorization header, renewed as its source demands; `fresh` asks the source again (after a 401). */
  readonly authorization: (options?: { readonly fresh?: boolean }) => Promise<SecretString | undefined>
}
