// Looks up what an event may affect, by indexes of the caches: the cost of a delivery depends on what it affects, never on how
// many tenants, grants or RemoteSyncs there are. It reads caches only and must never list one. Repositories match by numeric id
// where one is known, and by name where none is; a name counts only inside the installation that the event came from.

import { followedRepository, type RepositoryFollower } from '../../api/capabilities/repository-follower.ts'
import { answerable, installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { userSubject } from '../../api/names.ts'
import { type FollowerKind, followerKinds } from '../../api/registry.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Manager } from '../../kube/manager.ts'
import { approversIn } from '../../policy/grants/approvals.ts'
import type { Candidates } from './affected-objects.ts'
import type { GitHubEvent } from './github-event.ts'

/** The candidates of an event from a GitHub host: values of the caches at the time of the call. */
export type CandidateReader = (event: GitHubEvent, host: string) => Candidates

// Other readers of the same caches have indexes of their own.
const byAccount = 'webhook/account'
const byGitHubId = 'webhook/github-installation'
const byInstallation = 'webhook/installation'
const byRepository = 'webhook/repository'
const byPerson = 'webhook/person'

const idOnHost = (host: string, id: number): string => `${host}/${id}`
const installationOf = (object: RepositoryFollower | RepositoryGrant): string =>
  keyText({ ...keyOf(object), name: object.spec.installation })
/** Neither an id nor `owner/name` contains `#`. */
const repositoryUnder = (installationName: string, repository: number | string): string =>
  `${installationName}#${String(repository).toLowerCase()}`
const personUnder = (installationName: string, subject: string): string => `${installationName}#${subject}`

function repositoriesOfGrant(object: RepositoryGrant): readonly string[] {
  // Those that ended as well: one that is unarchived or transferred back counts again.
  const known = [...(object.status?.repositories ?? []), ...(object.status?.endedRepositories ?? [])]
  const repositories = known.length > 0 ? known.map(({ id }) => id) : object.spec.repositories
  return repositories.map(repository => repositoryUnder(installationOf(object), repository))
}

function repositoryOfFollower(object: RepositoryFollower): readonly string[] {
  return [repositoryUnder(installationOf(object), followedRepository(object)?.id ?? object.spec.repository)]
}

/**
 * Adds the indexes, so it may be called once per manager. A kind that declares `followsRepository` is found without a line
 * here.
 */
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
  grants.addIndex(byRepository, repositoriesOfGrant)
  grants.addIndex(byPerson, object =>
    [...new Set([object.spec.requestedBy, ...approversIn(object.status?.observedAnswers)])].map(person =>
      personUnder(installationOf(object), person),
    ),
  )
  for (const { cache } of followers) {
    cache.addIndex(byInstallation, object => [installationOf(object)])
    cache.addIndex(byRepository, repositoryOfFollower)
  }

  /** The installation that the event names, or those of the organisation that it names. */
  const installationsOf = ({ installationId, organizationId }: GitHubEvent, host: string) => {
    if (installationId !== undefined) return installations.byIndex(byGitHubId, idOnHost(host, installationId))
    return organizationId === undefined ? [] : installations.byIndex(byAccount, idOnHost(host, organizationId))
  }
  /** The objects under an installation that the repository of the event concerns; all of them when it names none. */
  const ofRepository = <T extends RepositoryFollower | RepositoryGrant>(
    cache: Pick<Cache<T>, 'byIndex'>,
    name: string,
    { repository }: GitHubEvent,
  ): readonly T[] => {
    if (repository === undefined) return cache.byIndex(byInstallation, name)
    const byId = cache.byIndex(byRepository, repositoryUnder(name, repository.id))
    const byName = cache.byIndex(byRepository, repositoryUnder(name, repository.fullName))
    return [...byId, ...byName.filter(object => !byId.includes(object))]
  }
  /** An event about one person's access concerns the grants that this person requested or approved. */
  const grantsOf = (name: string, event: GitHubEvent, person: string | undefined): readonly RepositoryGrant[] => {
    if (person === undefined) return ofRepository(grants, name, event)
    const concerned = grants.byIndex(byPerson, personUnder(name, person))
    return event.repository === undefined
      ? concerned
      : ofRepository(grants, name, event).filter(grant => concerned.includes(grant))
  }

  return (event, host) => {
    const { organizationId, memberId } = event
    const person = memberId === undefined ? undefined : userSubject(host, memberId)
    const bound = installationsOf(event, host)
    const names = bound.map(object => keyText(keyOf(object)))
    return {
      tenants: organizationId === undefined ? [] : tenants.byIndex(byAccount, idOnHost(host, organizationId)),
      installations: memberId === undefined ? bound : bound.filter(one => answerable(one).some(({ id }) => id === memberId)),
      grants: names.flatMap(name => grantsOf(name, event, person)),
      followers: names.flatMap(name =>
        followers.flatMap(({ kind, cache }) => ofRepository(cache, name, event).map(object => ({ kind, object }))),
      ),
    }
  }
}
