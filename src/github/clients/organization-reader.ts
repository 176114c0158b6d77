// A token that reads an organisation's members and nothing else. GitHub cannot narrow a token to "no repository", so its safety
// is in its permissions: with anything besides members and the metadata that GitHub always adds, it is refused.
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type ReportedPermissions, reportedPermissions } from '../installation-facts.ts'
import { expiryIn, tokenIn } from '../minted-token.ts'
import { objectAt, recordOf } from '../transport/answer.ts'

/** A minted token that reads members only. */
export type OrganizationReader = {
  readonly token: SecretString
  readonly expiresAt: Date
  readonly permissions: ReportedPermissions
  /** Always empty: its permissions name nothing of a repository except metadata. */
  readonly repositoryIds: readonly number[]
}

/** Reads GitHub's answer; throws `upstream_failed` (reason WiderThanAsked) for a token with more permissions. */
export function organizationReader(value: unknown): OrganizationReader {
  const answer = recordOf(value, 'access token')
  const permissions = reportedPermissions(objectAt(answer, 'permissions', 'access token'))
  const tooWide = Object.entries(permissions).some(
    ([name, level]) => (name !== 'members' && name !== 'metadata') || level !== 'read',
  )
  if (tooWide)
    throw new AppError('upstream_failed', 'GitHub minted a wider token than members: read', { reason: 'WiderThanAsked' })
  return { token: tokenIn(answer), expiresAt: expiryIn(answer), permissions, repositoryIds: [] }
}
