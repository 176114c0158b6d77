// The RepositoryGrant that a RemoteSync owns: what it must say, and what its decision means for the RemoteSync. Pure.
// It is made in the name of the person who asked for the RemoteSync and decided like any other; grants are immutable, so a change of
// installation, repository or person replaces it.
import { createHash } from 'node:crypto'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { type RepositoryGrant, repositoryGrant, repositoryGrantReasons } from '../../api/github/repository-grant.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { controllerOf, ownerReference } from '../../kube/object/owner.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { reasons, type Stop, stop } from './progress.ts'

const longestName = 253
const lifetimeSeconds = 2_592_000
/** Replaced this long before its end, so that no build meets an expired grant. */
const renewMilliseconds = 3_600_000

/** `remotesync-<name>`; a hash stands for the end of a name that does not fit. */
export function grantName(remoteSync: RemoteSync): string {
  const name = `remotesync-${remoteSync.metadata.name}`
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName - 13)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}

export function desiredGrant(remoteSync: RemoteSync): Omit<RepositoryGrant, 'status'> {
  const { spec, metadata } = remoteSync
  const pullRequests = spec.source.pullRequest === undefined ? {} : { pull_requests: 'read' as const }
  return {
    apiVersion: repositoryGrant.apiVersion,
    kind: repositoryGrant.kind,
    metadata: {
      name: grantName(remoteSync),
      namespace: metadata.namespace ?? '',
      ownerReferences: [ownerReference(remoteSync, { controller: true })],
    },
    spec: {
      installation: spec.installation,
      repositories: [spec.repository],
      permissions: { contents: 'read', metadata: 'read', ...pullRequests },
      subjects: [{ kind: 'RemoteSync', name: metadata.name }],
      delivery: 'TokenEndpoint',
      lifetimeSeconds,
      reason: `RemoteSync ${metadata.name} builds Application ${spec.application}`,
      requestedBy: spec.requestedBy,
    },
  }
}

export type GrantPlan =
  | { readonly kind: 'create' }
  | { readonly kind: 'replace'; readonly uid: string }
  | { readonly kind: 'use'; readonly grant: RepositoryGrant }
  | Stop

function messageOfGrant(grant: RepositoryGrant): string {
  const conditions = grant.status?.conditions
  const said = findCondition(conditions, 'Approved') ?? findCondition(conditions, 'Ready')
  return said && said.message !== '' ? `${grant.metadata.name}: ${said.message}` : `${grant.metadata.name} is not decided yet`
}

function isEnding(grant: RepositoryGrant, now: Date): boolean {
  const { expiresAt, conditions } = grant.status ?? {}
  if (findCondition(conditions, 'Ready')?.reason === repositoryGrantReasons.expired) return true
  return expiresAt !== undefined && Date.parse(expiresAt) - now.getTime() < renewMilliseconds
}

/** What to do about the grant that is there, or is not. */
export function planGrant(remoteSync: RemoteSync, grant: RepositoryGrant | undefined, now: Date): GrantPlan {
  if (!grant) return { kind: 'create' }
  const { name, uid, deletionTimestamp } = grant.metadata
  if (controllerOf(grant)?.uid !== remoteSync.metadata.uid) {
    const message = `RepositoryGrant ${name} exists and is not this RemoteSync's: delete it, or rename the RemoteSync`
    return stop('Resolved', reasons.grantConflict, message)
  }
  if (deletionTimestamp !== undefined) return stop('Resolved', reasons.waitingForGrant, `${name} is being replaced`)
  if (uid !== undefined && (!sameJson(grant.spec, desiredGrant(remoteSync).spec) || isEnding(grant, now)))
    return { kind: 'replace', uid }
  if (grant.status?.observedGeneration !== grant.metadata.generation)
    return stop('Resolved', reasons.waitingForGrant, `${name} is not decided yet`)
  if (grant.status?.decision === 'Denied') return stop('Resolved', reasons.grantDenied, messageOfGrant(grant))
  const ready = findCondition(grant.status?.conditions, 'Ready')
  if (grant.status?.decision !== 'Approved' || ready?.status !== 'True')
    return stop('Resolved', reasons.waitingForGrant, messageOfGrant(grant))
  return { kind: 'use', grant }
}
