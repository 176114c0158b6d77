// The OAuth side of the App: where a person is sent to sign in, and the exchange of what comes back. PKCE (S256) is always used,
// although GitHub does not force it. Nothing is retried: a code and a refresh token work once.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
import { exchangeWebFlowCode, refreshToken } from '@octokit/oauth-methods'
import { request } from '@octokit/request'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { GitHubEndpoints } from '../endpoints.ts'
import { createBoundedFetch, type Fetch } from '../transport/bounded-fetch.ts'
import { githubReasons, statusOf } from '../transport/failure.ts'

export type OAuthClientDeps = {
  readonly endpoints: GitHubEndpoints
  readonly clientId: string
  readonly clientSecret: SecretString
  readonly fetch?: Fetch
}

/** A person's tokens. Without expiry when the App has "expire user authorization tokens" switched off. */
export type UserTokens = {
  readonly accessToken: SecretString
  readonly expiresAt: Date | undefined
  /** Works once: using it kills the former access token too. */
  readonly refreshToken: SecretString | undefined
  readonly refreshTokenExpiresAt: Date | undefined
}

export type OAuthClient = {
  readonly authorizeUrl: (options: {
    readonly state: string
    readonly codeChallenge: string
    readonly redirectUri: string
  }) => string
  /** Throws `unauthenticated` when GitHub refuses the code, `unavailable` when GitHub cannot be reached. */
  readonly exchange: (options: {
    readonly code: string
    readonly codeVerifier: string
    readonly redirectUri: string
  }) => Promise<UserTokens>
  /** Throws `unauthenticated` when the refresh token is used up, expired or revoked: the person must sign in again. */
  readonly refresh: (token: SecretString) => Promise<UserTokens>
}

type Authentication = {
  readonly token: string
  readonly expiresAt?: string
  readonly refreshToken?: string
  readonly refreshTokenExpiresAt?: string
}

export function createOAuthClient(deps: OAuthClientDeps): OAuthClient {
  const client = request.defaults({
    baseUrl: deps.endpoints.web,
    headers: { 'user-agent': 'sekisho' },
    request: {
      fetch: createBoundedFetch(deps.endpoints.web, deps.fetch, { timeoutMilliseconds: 15_000, maximumBytes: 64 * 1024 }),
    },
  })
  const credentials = {
    clientType: 'github-app',
    clientId: deps.clientId,
    clientSecret: deps.clientSecret.reveal(),
  } as const

  return {
    authorizeUrl(options) {
      const url = new URL(`${deps.endpoints.web}/login/oauth/authorize`)
      url.searchParams.set('client_id', deps.clientId)
      url.searchParams.set('redirect_uri', options.redirectUri)
      url.searchParams.set('state', options.state)
      url.searchParams.set('code_challenge', options.codeChallenge)
      url.searchParams.set('code_challenge_method', 'S256')
      url.searchParams.set('allow_signup', 'false')
      return url.href
    },
    exchange: options =>
      translated('code', async () => {
        // The library has no parameter for the verifier (RFC 7636 §4.5), but defaults of the request become part of its body.
        const verifying = client.defaults({ code_verifier: options.codeVerifier })
        const { authentication } = await exchangeWebFlowCode({
          ...credentials,
          request: verifying,
          code: options.code,
          redirectUrl: options.redirectUri,
        })
        return userTokens(authentication)
      }),
    refresh: token =>
      translated('refresh token', async () => {
        const { authentication } = await refreshToken({ ...credentials, request: client, refreshToken: token.reveal() })
        return userTokens(authentication)
      }),
  }
}

function userTokens(authentication: Authentication): UserTokens {
  const moment = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))
  return {
    accessToken: new SecretString(authentication.token),
    expiresAt: moment(authentication.expiresAt),
    refreshToken: authentication.refreshToken === undefined ? undefined : new SecretString(authentication.refreshToken),
    refreshTokenExpiresAt: moment(authentication.refreshTokenExpiresAt),
  }
}

/** The thrown error holds the request with the client secret in its body, so nothing of it but a word survives. */
async function translated(what: string, work: () => Promise<UserTokens>): Promise<UserTokens> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && error.cause instanceof AppError) throw error.cause
    const status = statusOf(error)
    const word = error instanceof Error ? (/\(([a-z_]{3,60}),/.exec(error.message)?.[1] ?? '') : ''
    if (word === 'incorrect_client_credentials')
      throw new AppError('invalid_configuration', 'GitHub refuses the client id or client secret of the App', {
        reason: githubReasons.credentialRefused,
      })
    if (status === 400 && word !== '')
      throw new AppError('unauthenticated', `GitHub refuses the ${what}: ${word}; sign in again`, {
        reason: githubReasons.credentialRefused,
      })
    throw new AppError('unavailable', `GitHub could not exchange the ${what}${status === undefined ? '' : ` (HTTP ${status})`}`, {
      reason: githubReasons.unreachable,
    })
  }
}
