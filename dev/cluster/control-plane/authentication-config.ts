// The API server's structured authentication file: users authenticate by ID tokens of our issuer; anonymous requests reach health only.
// Kubernetes "Authenticating", section "Authentication configuration from a file".
import { stringify } from 'yaml'

export type IssuerTrust = {
  readonly url: string
  /** PEM of the authority that signed the issuer's serving certificate. */
  readonly certificateAuthority: string
  readonly audience: string
}

/** The file's text. An empty or `system:` subject must never become a user, whatever the issuer signs. */
export function authenticationConfiguration(issuer: IssuerTrust): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }] },
    jwt: [
      {
        issuer: { url: issuer.url, audiences: [issuer.audience], certificateAuthority: issuer.certificateAuthority },
        claimMappings: {
          username: { claim: 'sub', prefix: '' },
          groups: { claim: 'groups', prefix: '' },
          uid: { expression: 'claims.sub' },
          extra: [{ key: 'sekisho.dev/login', valueExpression: "claims.?login.orValue('')" }],
        },
        userValidationRules: [
          { expression: "!user.username.startsWith('system:')", message: 'reserved username' },
          { expression: "user.groups.all(g, !g.startsWith('system:'))", message: 'reserved group' },
          { expression: "user.username.startsWith('github|')", message: 'unknown subject' },
        ],
      },
    ],
  })
}
