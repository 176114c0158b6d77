// A member of a pool: what can make the token of a grant, and when a sibling may. Pure.
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { AppClient, GitHubEndpoints } from '../../../github/index.ts'
import { firstRefusal } from '../../../policy/check.ts'
import { permissionAbove } from '../../../policy/permission-level.ts'
import type { InstallationIdentity } from '../../../store/token-registry.ts'
import { isReadyNow, memberChecks } from '../checks.ts'
import type { DeskFacts } from '../gather.ts'
import type { Bound } from './siblings.ts'

/** What can make the token: the Installation that the grant names, or a sibling. */
export type Member = {
  readonly identity: InstallationIdentity
  readonly endpoints: GitHubEndpoints
  readonly client: Pick<AppClient, 'mintRefusal' | 'mint' | 'revoke'>
}

/**
 * Whether the sibling may make the token of an admitted request. Pure. It is ready, nothing halts it, and the grant is within its
 * ceiling and within what GitHub lets it do.
 */
export function mayMint(facts: DeskFacts, grant: RepositoryGrant, { installation, app }: Bound): boolean {
  if (!isReadyNow(installation)) return false
  const asMember = { ...facts, installation, app: { ...app.endpoints, appId: app.appId } }
  if (firstRefusal(memberChecks, asMember) !== undefined) return false
  return permissionAbove(grant.spec.permissions, installation.status?.permissions ?? {}) === undefined
}

export function memberOf({ installation, app }: Bound): Member {
  const { account, installationId } = installation.spec
  const identity = { host: account.host, appId: app.appId, installationId }
  return { identity, endpoints: app.endpoints, client: app.client }
}

export function isSameInstallation(a: InstallationIdentity, b: InstallationIdentity): boolean {
  return a.host === b.host && a.appId === b.appId && a.installationId === b.installationId
}
