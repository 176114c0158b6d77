// The shape of GitHub Apps, their installations and the consents of their users. It never holds an App's private key: as on
// GitHub, only the public half is kept, and the private half is written once to a file for the owner.

/** Levels of a permission of a GitHub App, weakest first. https://docs.github.com/en/rest/apps/apps */
export const permissionLevels = ['none', 'read', 'write', 'admin'] as const
export type PermissionLevel = (typeof permissionLevels)[number]
/** Permission name (`contents`, `members`, ...) to level; an absent name is not granted. */
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
  /** PEM, up to 25 as on GitHub; each of them can verify an App JWT. */
  publicKeys: string[]
  webhookUrl: string | null
  webhookSecret: string
  /** JSON when absent. */
  webhookEncoding?: 'json' | 'form'
  callbackUrls: string[]
  setupUrl: string | null
  setupOnUpdate: boolean
  /** "Request user authorization (OAuth) during installation": the setup URL is then not used. */
  requestOAuthOnInstall: boolean
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
  /** Only used with `selected`. */
  repositoryIds: number[]
  permissions: Permissions
  events: readonly string[]
  readonly createdAt: string
  updatedAt: string
  suspendedAt: string | null
  suspendedById: number | null
}

/** The request of a member, who may not install the App, to the owners of the account. */
export type InstallationRequest = {
  readonly id: number
  readonly appId: number
  readonly accountId: number
  readonly requesterId: number
  readonly repositorySelection: 'all' | 'selected'
  readonly repositoryIds: readonly number[]
  readonly createdAt: string
}

/** A user's consent that an App may act for them. */
export type Authorization = { readonly id: number; readonly appId: number; readonly userId: number; readonly createdAt: string }
