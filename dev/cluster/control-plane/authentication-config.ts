// The API server's structured authentication file: users authenticate by ID tokens of our issuer; anonymous requests reach
// health only. Kubernetes "Authenticating", section "Authentication configuration from a file".
import { stringify } from 'yaml'

export type IssuerTrust = {
  readonly url: string
  /** PEM of the authority that signed the issuer's serving certificate. */
  readonly certificateAuthority: string
  readonly audience: string
}

// As src/api/names.ts spells people, and `loginExtra` below. Groups are compared by their beginning only: what follows it is
// never bound by a cluster's own roles.
const person = String.raw`^github\\|[a-z0-9][a-z0-9.:-]*\\|[1-9][0-9]{0,14}$`

/**
 * The file's text. The rules hold whatever the issuer signs: only people of our form become users, and only groups of our form
 * become groups, so that a broker that was taken over can name neither a group of Kubernetes nor one that the operator has
 * bound. docs/guide/install.md has the same.
 */
export function authenticationConfiguration(issuer: IssuerTrust): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }] },
    jwt: [
      {
        issuer: { url: issuer.url, audiences: [issuer.audience], certificateAuthority: issuer.certificateAuthority },
        claimValidationRules: [{ expression: "claims.?typ.orValue('id') == 'id'", message: 'only ID tokens' }],
        claimMappings: {
          username: { claim: 'sub', prefix: '' },
          groups: { claim: 'groups', prefix: '' },
          uid: { expression: 'claims.sub' },
          extra: [{ key: 'sekisho.dev/login', valueExpression: "claims.?login.orValue('')" }],
        },
        userValidationRules: [
          { expression: `user.username.matches('${person}')`, message: 'the user is not a person of a GitHub host' },
          { expression: "user.groups.all(g, g.startsWith('github|'))", message: 'a group is not one of a GitHub organisation' },
        ],
      },
    ],
  })
}
