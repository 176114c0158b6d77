// The API server's structured authorization file: Node, then RBAC; with an authorizer what deploy/authorizer ships, which asks it
// between the two, and the kubeconfig by which it is called.
import { parse, stringify } from 'yaml'
import { celList } from '../../../src/lib/text/cel.ts'
import type { KeyPairFiles } from '../pki/openssl.ts'

/** The file that is shipped with the authorizer, below the repository. */
export const shippedAuthorization = 'deploy/authorizer/api-server.yaml'

export type AuthorizerAccess = {
  /** `https://<address>`, known before anything answers there. */
  readonly server: string
  /** The name in the serving certificate, which the API server's own authority signed. */
  readonly serverName: string
  /** Users about whom it is not asked: what must go on, and fast, while nothing answers. */
  readonly unasked: readonly string[]
}

type Shipped = {
  readonly authorizers: readonly {
    readonly type: string
    readonly webhook?: { readonly connectionInfo: object; readonly matchConditions: readonly object[] }
  }[]
}

/** The file without an authorizer. */
export function plainAuthorization(): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [
      { type: 'Node', name: 'node' },
      { type: 'RBAC', name: 'rbac' },
    ],
  })
}

/** The shipped file with this place of the kubeconfig. The API server reads the file again when it is replaced by rename. */
export function authorizationWith(shipped: string, kubeConfigFile: string, unasked: readonly string[]): string {
  const file = parse(shipped) as Shipped
  const condition = { expression: `!(request.user in ${celList(unasked)})` }
  const authorizers = file.authorizers.map(one => {
    if (one.webhook === undefined) return one
    const { connectionInfo, matchConditions } = one.webhook
    return {
      ...one,
      webhook: {
        ...one.webhook,
        connectionInfo: { ...connectionInfo, kubeConfigFile },
        matchConditions: [...matchConditions, ...(unasked.length === 0 ? [] : [condition])],
      },
    }
  })
  return stringify({ ...file, authorizers }, { lineWidth: 0 })
}

/** By which the API server calls the authorizer. It reads the file when it reads the authorization file. */
export function authorizerKubeconfig(
  { server, serverName }: AuthorizerAccess,
  authorityFile: string,
  client: KeyPairFiles,
): string {
  const cluster = { server: `${server}/authorize`, 'tls-server-name': serverName, 'certificate-authority': authorityFile }
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'authorizer', cluster }],
    users: [{ name: 'api-server', user: { 'client-certificate': client.certificate, 'client-key': client.key } }],
    contexts: [{ name: 'authorizer', context: { cluster: 'authorizer', user: 'api-server' } }],
    'current-context': 'authorizer',
  })
}
