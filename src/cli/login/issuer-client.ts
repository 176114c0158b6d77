// The OIDC client of the CLI: public, with PKCE, ES256 only. The signature of every ID token is verified.
import * as oidc from 'openid-client'
import { AppError, messageOf } from '../../lib/errors.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { redactTokens } from '../../lib/log.ts'
import type { CliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import type { CachedTokens } from '../files/token-cache.ts'

/** `offline_access` requests the refresh token. */
export const loginScope = 'openid offline_access'

export type Tokens = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers

/**
 * Reads the issuer's metadata. Rejects with an AppError. `onRefreshToken` hears of every refresh token that the issuer sends,
 * before the answer is judged: the former one is used then, whatever is wrong with the rest.
 */
export async function discoverIssuer(
  settings: CliSettings,
  connection: Connection,
  onRefreshToken: (token: string) => void = () => undefined,
): Promise<oidc.Configuration> {
  const metadata = { id_token_signed_response_alg: 'ES256', redirect_uris: ['http://127.0.0.1/callback'] }
  const heard: typeof fetch = async (input, init) => {
    const response = await connection.fetch(input, init)
    if (init?.method !== 'POST' || !response.ok) return response
    const token = textAt(asObject(parseJson(await response.clone().text())), 'refresh_token')
    if (token !== undefined) onRefreshToken(token)
    return response
  }
  const options = { [oidc.customFetch]: heard as oidc.CustomFetch, timeout: 30 }
  const configuration = await translated(() =>
    oidc.discovery(new URL(settings.issuer), settings.clientId, metadata, oidc.None(), options),
  )
  oidc.enableNonRepudiationChecks(configuration)
  return configuration
}

/** `former` provides the refresh token when the issuer did not rotate it. Throws `upstream_failed` without an ID token. */
export function tokensToCache(settings: CliSettings, tokens: Tokens, former?: CachedTokens): CachedTokens {
  const claims = tokens.claims()
  const idToken = tokens.id_token
  if (claims === undefined || idToken === undefined) throw new AppError('upstream_failed', 'the issuer sent no ID token')
  return {
    issuer: settings.issuer,
    clientId: settings.clientId,
    idToken,
    expiresAt: claims.exp,
    refreshToken: tokens.refresh_token ?? former?.refreshToken,
  }
}

/** Converts the library's errors to AppErrors; `unauthenticated` means that the user has to sign in again. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = appErrorIn(error)
    if (known !== undefined) throw known
    if (error instanceof oidc.ResponseBodyError) throw refusedByIssuer(error)
    if (error instanceof oidc.AuthorizationResponseError)
      throw new AppError('forbidden', `the sign-in was refused: ${error.error_description ?? error.error}`)
    throw new AppError('upstream_failed', `the issuer's response is not valid: ${redactTokens(messageOf(error))}`, {
      cause: error,
    })
  }
}

function refusedByIssuer(error: oidc.ResponseBodyError): AppError {
  const text = redactTokens(error.error_description ?? error.error)
  switch (error.error) {
    case 'invalid_grant':
      return new AppError('unauthenticated', 'your login has ended: run sekisho login')
    case 'temporarily_unavailable':
      return new AppError('unavailable', text)
    case 'access_denied':
      return new AppError('forbidden', `the sign-in was refused: ${text}`)
    case 'expired_token':
      return new AppError('unauthenticated', 'the code has expired: run sekisho login again')
    default:
      return error.status >= 500 ? new AppError('unavailable', text) : new AppError('upstream_failed', text)
  }
}

function appErrorIn(error: unknown): AppError | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1)
    if (current instanceof AppError) return current
  return undefined
}
