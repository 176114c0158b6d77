// The connection from the proxy to the real API server: address, TLS, and the administrator's credentials of the test cluster.
import { Agent, type Dispatcher } from 'undici'
import { readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'

export type Upstream = {
  readonly server: URL
  readonly authorization: string | undefined
  readonly dispatcher: Dispatcher
}

export async function upstreamOf(kubeconfig: string): Promise<Upstream> {
  const { server, certificateAuthority, certificate, key, token } = await readKubeconfig(kubeconfig)
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
