// The shape of everything that grants access: tokens, codes and browser sessions. Each is stored under the SHA-256 of its
// secret text; the text itself is never stored. Times are milliseconds since the epoch.
import type { Permissions } from './apps.ts'

export type InstallationToken = {
  readonly kind: 'installation'
  readonly installationId: number
  /** `null`: every repository of the installation, also those added later. */
  readonly repositoryIds: readonly number[] | null
  readonly permissions: Permissions
  readonly createdAt: number
  readonly expiresAt: number
}

export type UserToken = {
  readonly kind: 'user'
  readonly id: number
  readonly appId: number
  readonly userId: number
  readonly lastEight: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** A classic personal access token with the scopes `repo` and `read:org`. */
export type PersonalToken = {
  readonly kind: 'personal'
  readonly userId: number
  readonly createdAt: number
  readonly expiresAt: number
}

export type AccessToken = InstallationToken | UserToken | PersonalToken

export type RefreshToken = {
  readonly appId: number
  readonly userId: number
  /** Key of the access token that ends when this refresh token is used. */
  readonly accessTokenKey: string
  readonly expiresAt: number
}

export type AuthorizationCode = {
  readonly appId: number
  readonly userId: number
  readonly redirectUri: string
  readonly codeChallenge: string | null
  readonly expiresAt: number
}

export type BrowserSession = { readonly userId: number; readonly formToken: string; readonly expiresAt: number }

export type Credentials = {
  accessTokens: Record<string, AccessToken>
  refreshTokens: Record<string, RefreshToken>
  codes: Record<string, AuthorizationCode>
  sessions: Record<string, BrowserSession>
}
