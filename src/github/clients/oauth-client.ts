// The OAuth side of the App: where a person signs in, and the tokens that result. @octokit/oauth-app does it, except for the
// exchange, which must carry PKCE's verifier (docs/adr/0017-octokit-oauth-app.md). PKCE (S256) is always used, although GitHub
// does not require it. Nothing is retried: a code and a refresh token work once. No error contains a secret.
// Source:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
import { Octokit } from '@octokit/core'
import { OAuthApp } from '@octokit/oauth-app'
import { exchangeWebFlowCode } from '@octokit/oauth-methods'
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

/** A person's tokens. They do not expire when "expire user authorization tokens" is switched off for the App. */
export type UserTokens = {
  readonly accessToken: SecretString
  /** By GitHub's clock, as the other time. */
  readonly expiresAt: Date | undefined
  /** Works once: using it revokes the former access token too. */
  readonly refreshToken: SecretString | undefined
  readonly refreshTokenExpiresAt: Date | undefined
}

/**
 * `exchange` and `refresh` throw AppError: `unauthenticated` when GitHub refuses the code or the refresh token (used, expired
 * or revoked: the person must sign in again), `invalid_configuration` when it refuses the App's client secret, `unavailable`
 * when it cannot be reached.
 */
export type OAuthClient = {
  readonly authorizeUrl: (options: {
    readonly state: string
    readonly codeChallenge: string
    readonly redirectUri: string
  }) => string
  readonly exchange: (options: {
    readonly code: string
    readonly codeVerifier: string
    readonly redirectUri: string
  }) => Promise<UserTokens>
  readonly refresh: (token: SecretString) => Promise<UserTokens>
}

type Authentication = {
  readonly token: string
  readonly expiresAt?: string
  readonly refreshToken?: string
  readonly refreshTokenExpiresAt?: string
}

const bounds = { timeoutMilliseconds: 15_000, maximumBytes: 64 * 1024 }

/** A client for one App; it sends requests to `endpoints.web` only. */
export function createOAuthClient(deps: OAuthClientDeps): OAuthClient {
  const { web } = deps.endpoints
  const fetch = createBoundedFetch(web, deps.fetch, bounds)
  const credentials = {
    clientType: 'github-app',
    clientId: deps.clientId,
    clientSecret: deps.clientSecret.reveal(),
  } as const
  // OAuth is served by the web pages. The library derives their address from the API's, which is wrong where the platform admin
  // sets both.
  const app = new OAuthApp({
    ...credentials,
    allowSignup: false,
    Octokit: Octokit.defaults({ baseUrl: web, userAgent: 'sekisho', request: { fetch } }),
  })

  return {
    authorizeUrl({ state, codeChallenge, redirectUri }) {
      const url = new URL(app.getWebFlowAuthorizationUrl({ state, redirectUrl: redirectUri }).url)
      url.searchParams.set('code_challenge', codeChallenge)
      url.searchParams.set('code_challenge_method', 'S256')
      return url.href
    },
    exchange: ({ code, codeVerifier, redirectUri }) =>
      translated('code', async () => {
        // Defaults of a request become part of its body: the library has no parameter for the verifier (RFC 7636 §4.5).
        const request = app.octokit.request.defaults({ code_verifier: codeVerifier })
        const { authentication } = await exchangeWebFlowCode({ ...credentials, request, code, redirectUrl: redirectUri })
        return userTokens(authentication)
      }),
    refresh: token =>
      translated('refresh token', async () =>
        userTokens((await app.refreshToken({ refreshToken: token.reveal() })).authentication),
      ),
  }
}

function userTokens({ token, refreshToken, ...ends }: Authentication): UserTokens {
  const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))
  return {
    accessToken: new SecretString(token),
    expiresAt: dateOf(ends.expiresAt),
    refreshToken: refreshToken === undefined ? undefined : new SecretString(refreshToken),
    refreshTokenExpiresAt: dateOf(ends.refreshTokenExpiresAt),
  }
}

/**
 * The library's error holds the request with the client secret in its body, so only GitHub's error code (one word) is kept of
 * it.
 */
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
