// Which objects an event concerns: those get the wake annotation. Pure over what the caches hold. Repositories match by numeric id
// where a grant has resolved one, by name where none has yet; names count only inside the installation the event came from.

import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import type { Installation } from '../../api/github/installation.ts'
import { installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { type KubeObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { GitHubEvent } from './github-event.ts'

export type KnownObjects = {
  readonly installations: readonly Installation[]
  readonly syncs: readonly RemoteSync[]
  readonly grants: readonly RepositoryGrant[]
  readonly tenants: readonly Tenant[]
}

export type Concerned = { readonly type: ResourceType; readonly key: ObjectKey }

function entry(type: ResourceType, object: KubeObject): Concerned {
  return { type, key: keyOf(object) }
}

/** Installations that the event can speak for: the one it names, or those of the organisation it names. */
function speakingFor(event: GitHubEvent, host: string, known: KnownObjects): readonly Installation[] {
  return known.installations.filter(({ spec }) => {
    if (spec.account.host !== host) return false
    if (event.installationId !== undefined) return spec.installationId === event.installationId
    return event.organizationId !== undefined && spec.account.id === event.organizationId
  })
}

function followsEvent(sync: RemoteSync, event: GitHubEvent): boolean {
  const { branch, pullRequest } = sync.spec.source
  if (event.event === 'push') return branch !== undefined && branch === event.branch
  if (event.event === 'pull_request') return pullRequest !== undefined && pullRequest === event.pullRequest
  return true
}

function isOfRepository(
  sync: RemoteSync,
  grant: RepositoryGrant | undefined,
  repository: { readonly id: number; readonly fullName: string },
): boolean {
  const resolved = grant?.status?.repositories
  if (resolved?.some(({ name }) => name.toLowerCase() === sync.spec.repository.toLowerCase()))
    return resolved.some(({ id }) => id === repository.id)
  return sync.spec.repository.toLowerCase() === repository.fullName.toLowerCase()
}

function concernedSyncs(event: GitHubEvent, bound: readonly Installation[], known: KnownObjects): readonly RemoteSync[] {
  const { repository } = event
  if (repository === undefined) return []
  const names = new Set(bound.map(item => keyText(keyOf(item))))
  return known.syncs.filter(sync => {
    const { namespace = '' } = sync.metadata
    if (!names.has(`${namespace}/${sync.spec.installation}`) || !followsEvent(sync, event)) return false
    const grant = known.grants.find(({ metadata }) => metadata.namespace === namespace && metadata.name === sync.status?.grant)
    return isOfRepository(sync, grant, repository)
  })
}

function grantsUnder(bound: readonly Installation[], event: GitHubEvent, known: KnownObjects): readonly RepositoryGrant[] {
  const names = new Set(bound.map(item => keyText(keyOf(item))))
  return known.grants.filter(({ metadata, spec, status }) => {
    if (!names.has(`${metadata.namespace ?? ''}/${spec.installation}`)) return false
    const { repository } = event
    return repository === undefined || (status?.repositories ?? []).some(({ id }) => id === repository.id)
  })
}

/** Every object once. Events without meaning for us concern nothing. */
export function concernedBy(event: GitHubEvent, host: string, known: KnownObjects): readonly Concerned[] {
  const bound = speakingFor(event, host, known)
  const syncs = (): readonly Concerned[] => concernedSyncs(event, bound, known).map(item => entry(remoteSync, item))
  const grants = (): readonly Concerned[] => grantsUnder(bound, event, known).map(item => entry(repositoryGrant, item))
  const installations = (): readonly Concerned[] => bound.map(item => entry(installation, item))
  switch (event.event) {
    case 'push':
    case 'pull_request':
      return syncs()
    case 'installation':
    case 'installation_repositories':
    case 'installation_target':
      return [...installations(), ...grants()]
    case 'repository':
      return [...grants(), ...syncs()]
    case 'member':
      return grants()
    case 'organization':
    case 'membership':
    case 'team': {
      const tenants = known.tenants.filter(({ spec }) => spec.account.host === host && spec.account.id === event.organizationId)
      return [...tenants.map(item => entry(tenant, item)), ...installations(), ...grants()]
    }
    default:
      return []
  }
}
