// The connection from the proxy to the real server: its address, and the credential with which it forwards.
import { Agent, type Dispatcher } from 'undici'

export type Upstream = {
  readonly server: URL
  readonly authorization: string | undefined
  readonly dispatcher: Dispatcher
  /** Everybody may use the proxy, and all headers pass: credentials are the client's own. */
  readonly isOpen?: boolean
  /** Requests name the proxy as their host, because their clients signed that. */
  readonly isSigned?: boolean
}

/** GitHub or a registry. */
export function openUpstream(url: string): Upstream {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return { server: new URL(url), authorization: undefined, dispatcher, isOpen: true }
}

/** A store by AWS's wire, which knows each client by its signature. */
export function signedUpstream(url: string): Upstream {
  return { ...openUpstream(url), isSigned: true }
}
