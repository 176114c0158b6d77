// What grants under an installation can never exceed: the permissions that the owner accepted on GitHub, limited to those that
// the platform issues at all. Pure. A permission that is not listed here is never in a tenant's token, whatever permissions the
// App has.
import type { Installation } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { isPermissionLevel, lowerLevel, type PermissionLevel } from '../../policy/permission-level.ts'

export type Ceiling = Installation['spec']['ceiling']

/** No administration, secrets, workflows or organisation permissions: those would let a token widen its own access. */
const platformLimits: Readonly<Record<string, PermissionLevel>> = {
  actions: 'read',
  checks: 'write',
  contents: 'write',
  deployments: 'write',
  issues: 'write',
  metadata: 'read',
  packages: 'read',
  pull_requests: 'write',
  statuses: 'write',
}

const maxRepositories = 1000

/**
 * An unknown level grants nothing. `visibleRepositoryIds` count only when the owner selected repositories. Throws `conflict`
 * for more of them than an Installation can name: leaving some out would be found by chance, when a grant is refused.
 */
export function ceilingOf(installation: InstallationFacts, visibleRepositoryIds: readonly number[]): Ceiling {
  const permissions: Record<string, PermissionLevel> = {}
  for (const [name, limit] of Object.entries(platformLimits)) {
    const granted = installation.permissions[name]
    if (isPermissionLevel(granted)) permissions[name] = lowerLevel(granted, limit)
  }
  if (installation.repositorySelection === 'all') return { repositories: 'All', permissions }
  const ids = [...new Set(visibleRepositoryIds)].sort((a, b) => a - b)
  if (ids.length > maxRepositories)
    throw new AppError(
      'conflict',
      `${ids.length} repositories are selected on GitHub, and ${maxRepositories} are the most that can be bound one by one: select fewer, or all repositories`,
    )
  return { repositories: 'Selected', repositoryIds: ids, permissions }
}
