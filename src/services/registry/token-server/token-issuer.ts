// Makes the tokens that the registry accepts: who may do what with which repositories, for five minutes.
// Source: https://distribution.github.io/distribution/spec/auth/jwt/
import { randomUUID } from 'node:crypto'
import type { CertifiedSigner } from '../../../identity/certified-signer.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { RepositoryAccess } from '../repository.ts'

/** `service` names the registry (`auth.token.service`), `issuer` names us (`auth.token.issuer`). */
export type TokenAudience = { readonly service: string; readonly issuer: string }

export type RegistryToken = { readonly token: string; readonly expiresInSeconds: number; readonly issuedAt: Date }

export type TokenIssuer = (subject: string, access: readonly RepositoryAccess[]) => Promise<RegistryToken>

/** Long enough for a request that is on its way; a longer push asks again. */
const lifetimeSeconds = 300
/** The clock of the registry may be behind ours. */
const backdateSeconds = 30

export function createTokenIssuer(
  deps: TokenAudience & { readonly signer: Pick<CertifiedSigner, 'sign'>; readonly clock: Clock },
): TokenIssuer {
  const { signer, service, issuer, clock } = deps
  return async (subject, access) => {
    const issuedAt = clock.now()
    const seconds = Math.floor(issuedAt.getTime() / 1000)
    const token = await signer.sign({
      iss: issuer,
      sub: subject,
      aud: service,
      iat: seconds,
      nbf: seconds - backdateSeconds,
      exp: seconds + lifetimeSeconds,
      jti: randomUUID(),
      access: access.map(({ type, name, actions }) => ({ type, name, actions: [...actions] })),
    })
    return { token, expiresInSeconds: lifetimeSeconds, issuedAt }
  }
}
