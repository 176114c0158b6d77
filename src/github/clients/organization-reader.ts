// A token that reads an organisation's members and nothing else. GitHub has no way to narrow it to "no repository", so its safety is
// in its permissions: anything beside members and the metadata that GitHub always adds makes it unusable.
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type ReportedPermissions, reportedPermissions } from '../installation-facts.ts'
import { momentIn, tokenIn } from '../minted-token.ts'
import { objectAt, recordOf } from '../transport/answer.ts'

export type OrganizationReader = {
  readonly token: SecretString
  readonly expiresAt: Date
  readonly permissions: ReportedPermissions
  /** None that it may read: its permissions name nothing of a repository but metadata. */
  readonly repositoryIds: readonly number[]
}

export function organizationReader(value: unknown): OrganizationReader {
  const answer = recordOf(value, 'access token')
  const permissions = reportedPermissions(objectAt(answer, 'permissions', 'access token'))
  const tooWide = Object.entries(permissions).some(
    ([name, level]) => (name !== 'members' && name !== 'metadata') || level !== 'read',
  )
  if (tooWide)
    throw new AppError('upstream_failed', 'GitHub minted a wider token than members: read', { reason: 'WiderThanAsked' })
  return { token: tokenIn(answer), expiresAt: momentIn(answer), permissions, repositoryIds: [] }
}
