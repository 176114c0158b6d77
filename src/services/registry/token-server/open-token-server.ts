// Puts the token server together: key of the credentials, signer, routes, certificate. It holds no tenant's data besides what
// the caches have.
import { randomBytes } from 'node:crypto'
import type { CertifiedKey } from '../../../identity/certified-key.ts'
import { createCertifiedSigner } from '../../../identity/certified-signer.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { PlatformKeys } from '../../../store/platform-keys.ts'
import { createWebServer, type WebServer } from '../../../web/server.ts'
import type { Certificate } from '../../../web/tls.ts'
import { type CredentialTenant, createRegistryCredentials, type RegistryCredentials } from '../credentials.ts'
import type { RegistryLayout } from './access.ts'
import type { TokenResult } from './metrics.ts'
import { createTokenIssuer, type TokenIssuer } from './token-issuer.ts'
import { tokenRoutes } from './token-routes.ts'

export type TokenServerDeps = {
  readonly keys: PlatformKeys
  readonly authority: CertifiedKey
  readonly certificate?: Certificate
  readonly layout: RegistryLayout
  readonly service: string
  readonly tenantsOf: (namespace: string) => readonly CredentialTenant[]
  readonly count: (result: TokenResult) => void
  readonly clock: Clock
  readonly log: Log
}

export type TokenServer = {
  readonly server: WebServer
  readonly credentials: RegistryCredentials
  readonly issue: TokenIssuer
  /** Renews the signing key. */
  readonly renewal: Pick<Periodic, 'start' | 'stop'>
}

/** `auth.token.issuer` of the registry. */
export const tokenIssuerName = 'sekisho'
const renewMilliseconds = 24 * 3_600_000

/**
 * The server does not listen yet. Rejects when the store fails, or with `invalid_configuration` for an authority that cannot be
 * used.
 */
export async function openTokenServer(deps: TokenServerDeps): Promise<TokenServer> {
  const { authority, layout, service, clock, log, count } = deps
  const key = await deps.keys.getOrCreate(
    'registry-credentials',
    async () => new SecretString(randomBytes(32).toString('base64')),
  )
  const credentials = createRegistryCredentials({ key, tenantsOf: deps.tenantsOf, clock })
  const signer = await createCertifiedSigner({ authority, commonName: 'sekisho-registry-tokens', clock })
  const issue = createTokenIssuer({ signer, service, issuer: tokenIssuerName, clock })
  const server = await createWebServer({
    log,
    clock,
    ...defined({ certificate: deps.certificate }),
    bodyLimit: 8192,
    // Behind a Service all clients can have one address: the routes limit by credential.
    requestsPerMinute: 'unlimited',
  })
  await server.register(tokenRoutes({ credentials, layout, service, issue, count, clock, log }))
  const renewal = periodic({
    name: 'renewal of the registry token key',
    everyMilliseconds: renewMilliseconds,
    work: signer.renew,
    clock,
    log,
    waitsFirst: true,
  })
  return { server, credentials, issue, renewal }
}
