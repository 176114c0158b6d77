// A cheap look at a bearer token before the API server is asked: whether it can be a ServiceAccount token for this endpoint at
// all. Nothing is verified, so the claims are used to refuse and never to allow: a forged token passes here and fails at the
// API server.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
import { tokenDeskAudience } from '../../../api/names.ts'
import { asObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { SecretString } from '../../../lib/secret-string.ts'

const maxToken = 16_384
/** A clock may be that far from the API server's. */
const toleratedSeconds = 60

/** False for what no API server would accept: not a JWT, another audience, expired, or bound to no pod. */
export function isPlausibleBearer(bearer: SecretString, now: Date): boolean {
  if (bearer.length === 0 || bearer.length > maxToken) return false
  const claims = claimsOf(bearer.reveal())
  const bound = objectAt(claims, 'kubernetes.io')
  const isBound =
    textAt(bound, 'namespace') && textAt(objectAt(bound, 'serviceaccount'), 'uid') && textAt(objectAt(bound, 'pod'), 'uid')
  const { aud, exp } = claims ?? {}
  const isForUs = aud === tokenDeskAudience || (Array.isArray(aud) && aud.includes(tokenDeskAudience))
  return Boolean(isBound) && isForUs && typeof exp === 'number' && exp + toleratedSeconds > now.getTime() / 1000
}

/** The payload of a JWT (RFC 7519 §3); undefined when it is not one. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [header, payload, signature, more] = token.split('.')
  if (!header || !payload || !signature || more !== undefined) return undefined
  try {
    return asObject(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
  } catch {
    // Not JSON, so not a JWT.
    return undefined
  }
}
