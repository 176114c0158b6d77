// Records the end of a grant: by whom, why and when. Its tokens are revoked by then, so a log that cannot be written keeps the
// object, and not the access. Decides nothing about the grant.
import type { TenantAuditRecord } from '../../../api/audit/audit-event.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { followerKinds } from '../../../api/registry.ts'
import { keyOf } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { defined } from '../../../lib/json/defined.ts'
import { grantFacts } from '../../../services/token-desk/audit/desk-audit.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { type DoneTo, deletionOf } from '../../../store/audit/find-doer.ts'
import { recordEndBy, recordEndOnce } from '../../../store/audit/record-end.ts'

export type GrantEndDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
  /** The Tenants whose namespace it is. */
  readonly tenantsIn: (namespace: string) => readonly Tenant[]
}

/** What ended the grant, and which requests could have been made for it. */
type Cause = { readonly cause: string; readonly causeObject?: string; readonly done?: DoneTo }

/** For a grant that is being deleted. Rejects when the log or the API server does not answer. */
export async function recordGrantEnd(deps: GrantEndDeps, grant: RepositoryGrant): Promise<void> {
  const { deletionTimestamp, uid = '' } = grant.metadata
  const { cause, causeObject, done } = await causeOf(deps, grant)
  const record = endRecord(grant, { cause, ...defined({ causeObject, causeAt: deletionTimestamp }) })
  await recordEndBy(deps.audit, record, done ?? deletionOf(uid, deletionTimestamp))
}

/** For a grant whose time is over. Rejects when the log does not answer. */
export async function recordGrantExpiry({ audit }: Pick<GrantEndDeps, 'audit'>, grant: RepositoryGrant): Promise<void> {
  await recordEndOnce(audit, endRecord(grant, { cause: 'Expired', ...defined({ causeAt: grant.status?.expiresAt }) }))
}

/** In the order in which they explain each other: with a Tenant everything ends, with an owner its grant. */
async function causeOf({ client, tenantsIn }: GrantEndDeps, grant: RepositoryGrant): Promise<Cause> {
  const { namespace = '' } = grant.metadata
  const ending = tenantsIn(namespace).find(({ metadata }) => metadata.deletionTimestamp !== undefined)?.metadata
  if (ending !== undefined) {
    const done = deletionOf(ending.uid ?? '', ending.deletionTimestamp)
    return { cause: 'NamespaceEnded', causeObject: `Tenant/${ending.name}`, done }
  }
  const owner = controllerOf(grant)
  const type = followerKinds.find(({ kind }) => kind === owner?.kind)
  if (owner === undefined || type === undefined) return { cause: 'Deleted' }
  const live = await client.get(type, { ...keyOf(grant), name: owner.name })
  const isLive = live?.metadata.uid === owner.uid && live.metadata.deletionTimestamp === undefined
  if (isLive) return { cause: 'Replaced', causeObject: `${owner.kind}/${namespace}/${owner.name}` }
  const causeObject = `${owner.kind}/${namespace}/${owner.name}`
  return { cause: 'OwnerEnded', causeObject, done: deletionOf(owner.uid, live?.metadata.deletionTimestamp) }
}

type EndDetails = Pick<TenantAuditRecord['details'], 'cause' | 'causeObject' | 'causeAt'>

function endRecord(grant: RepositoryGrant, details: EndDetails) {
  const { namespace = '', name, uid = '' } = grant.metadata
  const { decision = '', repositories = [] } = grant.status ?? {}
  return {
    action: 'grant.ended',
    actor: 'sekisho:repository-grant',
    namespace,
    object: `RepositoryGrant/${namespace}/${name}`,
    outcome: 'allowed',
    reason: grant.spec.reason,
    details: {
      ...grantFacts(grant),
      ...{ uid, grantUid: uid, decision },
      repositoryIds: repositories.map(({ id }) => id),
      permissions: { ...grant.spec.permissions },
      ...details,
    },
  } as const
}
