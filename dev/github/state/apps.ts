// Owns: the shape of GitHub Apps, their installations and the consents people gave them. An App's private key is not here: as on
// GitHub, only the public half is kept; the private half is written once to a file for its owner.

/** Strength of a permission of a GitHub App, weakest first. https://docs.github.com/en/rest/apps/apps */
export const permissionLevels = ['none', 'read', 'write', 'admin'] as const
export type PermissionLevel = (typeof permissionLevels)[number]
/** Permission name (`contents`, `members`, ...) to level; a name that is absent is not granted. */
export type Permissions = Readonly<Record<string, PermissionLevel>>

export type App = {
  readonly id: number
  slug: string
  name: string
  description: string | null
  readonly ownerId: number
  readonly botId: number
  readonly clientId: string
  clientSecret: string
  /** PEM, up to 25 as on GitHub; any of them verifies an App JWT. */
  publicKeys: string[]
  webhookUrl: string | null
  webhookSecret: string
  callbackUrls: string[]
  setupUrl: string | null
  setupOnUpdate: boolean
  /** "Request user authorization (OAuth) during installation": the setup URL is then unavailable. */
  requestOAuthOnInstall: boolean
  /** "Enable Device Flow". */
  deviceFlow: boolean
  permissions: Permissions
  events: readonly string[]
  readonly createdAt: string
  updatedAt: string
}

export type Installation = {
  readonly id: number
  readonly appId: number
  readonly accountId: number
  repositorySelection: 'all' | 'selected'
  /** Meaningful for `selected` only. */
  repositoryIds: number[]
  permissions: Permissions
  events: readonly string[]
  readonly createdAt: string
  updatedAt: string
  suspendedAt: string | null
  suspendedById: number | null
}

/** A member who may not install asked the owners of the account to do so. */
export type InstallationRequest = {
  readonly id: number
  readonly appId: number
  readonly accountId: number
  readonly requesterId: number
  readonly repositorySelection: 'all' | 'selected'
  readonly repositoryIds: readonly number[]
  readonly createdAt: string
}

/** A person's standing consent that an App acts for them. */
export type Authorization = { readonly id: number; readonly appId: number; readonly userId: number; readonly createdAt: string }
