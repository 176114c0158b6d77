// What grants under an installation can never exceed: what GitHub says the owner agreed to, cut down to what the platform hands out at all.
// Pure. A permission that is not listed here is never in a tenant's token, whatever the App has.
import type { Installation } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'

export type Ceiling = Installation['spec']['ceiling']
type Level = Ceiling['permissions'][string]

/** No administration, no secrets, no workflows, nothing of the organisation: those would let a token widen itself. */
const platformLimits: Readonly<Record<string, Level>> = {
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

const strength: Readonly<Record<Level, number>> = { read: 1, write: 2, admin: 3 }
const mostRepositories = 1000

function isLevel(text: string | undefined): text is Level {
  return text === 'read' || text === 'write' || text === 'admin'
}

export function ceilingOf(installation: InstallationFacts, visibleRepositoryIds: readonly number[]): Ceiling {
  const permissions: Record<string, Level> = {}
  for (const [name, limit] of Object.entries(platformLimits)) {
    const granted = installation.permissions[name]
    if (isLevel(granted)) permissions[name] = strength[granted] < strength[limit] ? granted : limit
  }
  if (installation.repositorySelection === 'all') return { repositories: 'All', permissions }
  const ids = [...new Set(visibleRepositoryIds)].sort((a, b) => a - b)
  return { repositories: 'Selected', repositoryIds: ids.slice(0, mostRepositories), permissions }
}
