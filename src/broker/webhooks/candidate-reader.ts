// Looks up what an event may affect, by indexes of the caches: the cost of a delivery depends on the installation that it came from, never on
// how many tenants there are. It reads caches only and must never list one.
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { type FollowerKind, followerKinds } from '../../api/registry.ts'
import type { RepositoryFollower } from '../../api/repository-follower.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { Manager } from '../../kube/manager.ts'
import type { Candidates } from './affected-objects.ts'
import type { GitHubEvent } from './github-event.ts'

/** The candidates of an event from a GitHub host: values of the caches at the time of the call. */
export type CandidateReader = (event: GitHubEvent, host: string) => Candidates

// Other readers of the same caches have indexes of their own.
const byAccount = 'webhook/account'
const byGitHubId = 'webhook/github-installation'
const byInstallation = 'webhook/installation'

const idOnHost = (host: string, id: number): string => `${host}/${id}`
const installationOf = (object: RepositoryFollower | RepositoryGrant): string =>
  keyText({ ...keyOf(object), name: object.spec.installation })

/** Adds the indexes, so it may be called once per manager. A kind that declares `followsRepository` is found without a line here. */
export function createCandidateReader(
  manager: Pick<Manager, 'cache'>,
  kinds: readonly FollowerKind[] = followerKinds,
): CandidateReader {
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  const grants = manager.cache(repositoryGrant)
  const followers = kinds.map(kind => ({ kind, cache: manager.cache(kind) }))
  tenants.addIndex(byAccount, ({ spec }) => [idOnHost(spec.account.host, spec.account.id)])
  installations.addIndex(byAccount, ({ spec }) => [idOnHost(spec.account.host, spec.account.id)])
  installations.addIndex(byGitHubId, ({ spec }) => [idOnHost(spec.account.host, spec.installationId)])
  grants.addIndex(byInstallation, object => [installationOf(object)])
  for (const { cache } of followers) cache.addIndex(byInstallation, object => [installationOf(object)])

  /** The installation that the event names, or those of the organisation that it names. */
  const installationsOf = ({ installationId, organizationId }: GitHubEvent, host: string) => {
    if (installationId !== undefined) return installations.byIndex(byGitHubId, idOnHost(host, installationId))
    return organizationId === undefined ? [] : installations.byIndex(byAccount, idOnHost(host, organizationId))
  }
  const grantOf = ({ metadata: { namespace = '' }, status }: RepositoryFollower) =>
    status?.grant === undefined ? undefined : grants.get({ namespace, name: status.grant })
  const followersOf = (name: string) =>
    followers.flatMap(({ kind, cache }) =>
      cache.byIndex(byInstallation, name).map(object => ({ kind, object, grant: grantOf(object) })),
    )

  return (event, host) => {
    const { organizationId } = event
    const bound = installationsOf(event, host)
    const names = bound.map(object => keyText(keyOf(object)))
    return {
      tenants: organizationId === undefined ? [] : tenants.byIndex(byAccount, idOnHost(host, organizationId)),
      installations: bound,
      grants: names.flatMap(name => grants.byIndex(byInstallation, name)),
      followers: names.flatMap(followersOf),
    }
  }
}
