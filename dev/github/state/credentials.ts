// Owns: the shape of everything that grants access: tokens, codes and browser sessions. Each is filed under the SHA-256 of its
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

/** A classic personal access token with the scope `repo` and `read:org`. */
export type PersonalToken = {
  readonly kind: 'personal'
  readonly userId: number
  readonly createdAt: number
  readonly expiresAt: number
}

/** One try of the device flow, filed under its device code. */
export type DeviceAuthorization = {
  readonly appId: number
  /** Key of the code that the person types. */
  readonly userCodeKey: string
  state: 'pending' | 'granted' | 'denied'
  userId: number | null
  /** Milliseconds that must lie between two polls; each poll that comes too soon makes it five seconds longer. */
  interval: number
  lastPollAt: number | null
  readonly validUntil: number
  /** When it is forgotten; until then polling answers `expired_token`. */
  readonly expiresAt: number
}

/** Lets whoever holds it load one repository as an archive; made for each redirect. */
export type ArchiveTicket = { readonly repositoryId: number; readonly expiresAt: number }

export type AccessToken = InstallationToken | UserToken | PersonalToken

export type RefreshToken = {
  readonly appId: number
  readonly userId: number
  /** Key of the access token that dies when this refresh token is used. */
  readonly accessTokenKey: string
  /** Made by the device flow: refreshing it needs no client secret. */
  readonly byDevice: boolean
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
  devices: Record<string, DeviceAuthorization>
  archiveTickets: Record<string, ArchiveTicket>
}
