// An API server behind the proxy: address, TLS, and the credentials of a kubeconfig or of a ServiceAccount.
import { Agent } from 'undici'
import { type ClientAccess, readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import type { Upstream } from './upstream.ts'

export function upstreamWith({ server, certificateAuthority, certificate, key, token }: ClientAccess): Upstream {
  return {
    server: new URL(server),
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    dispatcher: new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
        ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
      },
    }),
  }
}

export async function upstreamOf(kubeconfig: string): Promise<Upstream> {
  return upstreamWith(await readKubeconfig(kubeconfig))
}
