// A cheap look at a bearer token before the API server is asked: whether it can be a ServiceAccount token for this endpoint at
// all.
import { tokenDeskAudience } from '../../../api/names.ts'
import { accountClaims, isFor } from '../../../identity/service-account-token.ts'
import type { SecretString } from '../../../lib/secret-string.ts'

/** False for what no API server would accept: not a JWT, another audience, expired, or bound to no pod. */
export function isPlausibleBearer(bearer: SecretString, now: Date): boolean {
  const claims = accountClaims(bearer)
  return claims?.isBoundToPod === true && isFor(claims, tokenDeskAudience, now)
}
