// A Kubernetes Event about a grant for tokens of it that were revoked, so that `kubectl describe` says why a workload lost its
// token. The audit log stays the record: an Event may be lost, and the pace of Events bounds what a thousand tokens make.
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { type RepositoryGrant, repositoryGrant } from '../../../api/github/repository-grant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { EventRecorder } from '../../../kube/object/events.ts'

type Deps = {
  readonly grants: Pick<Cache<RepositoryGrant>, 'get'>
  readonly events: Pick<EventRecorder, 'record'>
}

type Appending = { readonly append: (record: AuditRecord) => Promise<unknown> }

/** The same log; what it accepted about a token that ended is an Event of the grant, when the grant still exists. */
export function announcing(audit: Appending, { grants, events }: Deps): Appending {
  return {
    async append(record) {
      const entry = await audit.append(record)
      const event = revocationEvent(record)
      const grant = event && grants.get(event.grant)
      // A grant that was made again with the same name had no part in it.
      if (event === undefined || grant === undefined || grant.metadata.uid !== record.details.grantUid) return entry
      const { type, reason, message } = event
      events.record({ ...grant, apiVersion: repositoryGrant.apiVersion, kind: repositoryGrant.kind }, { type, reason, message })
      return entry
    },
  }
}

/** Undefined for a record that is not about the end of a token of a grant. */
export function revocationEvent({ action, outcome, object, namespace = '', reason }: AuditRecord) {
  const [kind, , name] = object.split('/')
  if (action !== 'token.revoked' || kind !== 'RepositoryGrant' || name === undefined) return undefined
  const revoked = outcome === 'allowed'
  return {
    grant: { namespace, name },
    type: revoked ? ('Normal' as const) : ('Warning' as const),
    reason: revoked ? 'TokenRevoked' : 'TokenNotRevoked',
    message: revoked ? `a token of this grant was revoked at GitHub: ${reason}` : `a token of this grant: ${reason}`,
  }
}
