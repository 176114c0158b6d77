// The request to mint a token, and the token that GitHub minted. Nothing is ever left out: to GitHub a missing list of
// repositories or permissions means "everything", so it is refused here before a request is sent.
// Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
import { type Visibility, visibilities } from '../api/github/grant-policy.ts'
import { type PermissionLevel, permissionLevels } from '../api/schema/fields.ts'
import { AppError } from '../lib/errors.ts'
import { defined } from '../lib/json/defined.ts'
import { SecretString } from '../lib/secret-string.ts'
import { type ReportedPermissions, reportedPermissions } from './installation-facts.ts'
import { integerAt, listOf, objectAt, recordOf, textAt } from './transport/answer.ts'

/** Permission to level, as it is requested. */
export type Permissions = Readonly<Record<string, PermissionLevel>>

/**
 * Exactly one of the two ways to name repositories. Names are bare (`shop`, not `acme/shop`): the installation's account owns
 * them.
 */
export type MintRequest = {
  readonly installationId: number
  readonly permissions: Permissions
} & (
  | { readonly repositoryIds: readonly number[]; readonly repositoryNames?: never }
  | { readonly repositoryNames: readonly string[]; readonly repositoryIds?: never }
)

/** `visibility` is absent when GitHub does not say it, or says another word. */
export type MintedRepository = {
  readonly id: number
  readonly fullName: string
  readonly archived?: true
  readonly visibility?: Visibility
}

/** The token and its reach according to GitHub; the caller compares it with its request before anybody receives the token. */
export type MintedToken = {
  /** Opaque: two formats exist (40 characters, and about 520 with dots and dashes). Never decoded. */
  readonly token: SecretString
  readonly expiresAt: Date
  readonly repositoryIds: readonly number[]
  readonly repositories: readonly MintedRepository[]
  readonly permissions: ReportedPermissions
}

const maxRepositories = 500

/**
 * The body of the request, sorted and without duplicates. Throws `invalid_request` for a request that is empty, unbounded or
 * malformed.
 */
export function mintBody(request: MintRequest): Record<string, unknown> {
  const permissions = checkedPermissions(request.permissions)
  if (request.repositoryIds !== undefined) return { repository_ids: checkedIds(request.repositoryIds), permissions }
  return { repositories: checkedNames(request.repositoryNames), permissions }
}

function checkedPermissions(permissions: Permissions): Record<string, string> {
  const entries = Object.entries(permissions).sort(([a], [b]) => (a < b ? -1 : 1))
  if (entries.length === 0) throw refused('permissions must name at least one permission, such as contents: read')
  for (const [name, level] of entries) {
    if (!/^[a-z][a-z_]{0,63}$/.test(name)) throw refused('permissions has a name that is not a permission of a GitHub App')
    if (!permissionLevels.includes(level)) throw refused(`permissions.${name} must be read, write or admin`)
  }
  return Object.fromEntries(entries)
}

function checkedIds(ids: readonly number[]): number[] {
  bounded(ids, 'repositoryIds')
  if (!ids.every(id => Number.isSafeInteger(id) && id > 0)) throw refused('repositoryIds must be positive whole numbers')
  return [...new Set(ids)].sort((a, b) => a - b)
}

function checkedNames(names: readonly string[]): string[] {
  bounded(names, 'repositoryNames')
  if (!names.every(name => /^[A-Za-z0-9._-]{1,100}$/.test(name)))
    throw refused('repositoryNames must be bare repository names, without owner')
  return [...new Set(names)].sort()
}

function bounded(list: readonly unknown[], field: string): void {
  if (list.length === 0) throw refused(`${field} must not be empty: empty means every repository to GitHub`)
  if (list.length > maxRepositories) throw refused(`${field} must hold at most ${maxRepositories} repositories`)
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}

/** The token alone, so that it can be revoked even when the rest of the answer is not understood. */
export function tokenIn(answer: unknown): SecretString {
  return new SecretString(textAt(recordOf(answer, 'access token'), 'token', 'access token'))
}

/** Throws `upstream_failed` when the answer does not name the repositories: a token of unknown reach must not be delivered. */
export function mintedToken(value: unknown): MintedToken {
  const answer = recordOf(value, 'access token')
  const repositories = listOf(answer['repositories'], 'access token.repositories').map(item => {
    const repository = recordOf(item, 'repository')
    const archived = repository['archived'] === true ? ({ archived: true } as const) : {}
    const visibility = visibilities.find(known => known === repository['visibility'])
    const names = { id: integerAt(repository, 'id', 'repository'), fullName: textAt(repository, 'full_name', 'repository') }
    return { ...names, ...archived, ...defined({ visibility }) }
  })
  return {
    token: tokenIn(answer),
    expiresAt: expiryIn(answer),
    repositories,
    repositoryIds: repositories.map(repository => repository.id).sort((a, b) => a - b),
    permissions: reportedPermissions(objectAt(answer, 'permissions', 'access token')),
  }
}

/** When the token expires, by GitHub's clock. */
export function expiryIn(answer: Readonly<Record<string, unknown>>): Date {
  const time = new Date(textAt(answer, 'expires_at', 'access token'))
  if (!Number.isNaN(time.getTime())) return time
  throw new AppError('upstream_failed', "GitHub's answer is not understood: access token.expires_at is not a time")
}
