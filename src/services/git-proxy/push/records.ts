// What the audit log has of pushes: each ref by itself, before GitHub gets it and after GitHub's report, and what the proxy
// refused.
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { CountedEvent } from '../../../store/audit/counted-audit.ts'
import { requestRecord } from '../../token-desk/audit/desk-audit.ts'
import type { TokenRequest } from '../../token-desk/token-desk.ts'
import type { RefUpdate } from './commands.ts'
import type { RefResult } from './report.ts'

/** A request of a workload that was admitted, and the repository that it names. */
export type GitAccess = {
  readonly request: TokenRequest
  readonly host: string
  readonly repository: { readonly id: number; readonly fullName: string }
}

/** Joins the records of one push. */
type Push = GitAccess & { readonly pushId: string }

function accessFacts({ request: { subject, from = {}, grant }, host, repository }: GitAccess): Record<string, JsonValue> {
  const { pod, address } = from
  return {
    host,
    repositoryIds: [repository.id],
    repositories: [{ ...repository }],
    subject: { kind: subject.kind, name: subject.name, uid: subject.uid },
    ...defined({ grantUid: grant.metadata.uid, pod: pod && { ...pod }, address }),
  }
}

function updateFacts(push: Push, { ref, from, to }: RefUpdate): Record<string, JsonValue> {
  return { ...accessFacts(push), push: push.pushId, ref, from, to }
}

/** Before GitHub gets the push. */
export function intendedRecord(push: Push, update: RefUpdate): AuditRecord {
  const reason = 'all checks passed'
  return requestRecord(push.request, {
    ...{ action: 'git.push-intended', outcome: 'allowed', reason },
    details: updateFacts(push, update),
  })
}

const outcomes = { ok: 'allowed', refused: 'denied', unknown: 'failed' } as const

/** After GitHub answered. */
export function pushedRecord(push: Push, update: RefUpdate, { result, reason }: RefResult): AuditRecord {
  return requestRecord(push.request, {
    ...{ action: 'git.pushed', outcome: outcomes[result], reason },
    details: updateFacts(push, update),
  })
}

/** Of an intent without an end, whose process died. */
export function unknownEndRecord({
  namespace,
  object,
  details,
}: Pick<AuditRecord, 'namespace' | 'object' | 'details'>): AuditRecord {
  const reason = 'the process ended before GitHub’s report was recorded: whether GitHub took the ref is not known'
  const step = { action: 'git.pushed', outcome: 'failed', reason } as const
  return { ...step, actor: 'sekisho:git-proxy', ...defined({ namespace }), object, details }
}

const refusalWindowMilliseconds = 60_000
/** Different refusals of one namespace that are recorded by themselves in that time. */
const maxRefusals = 20

/** What the proxy refused after the grant admitted the workload, as an event that the workload may repeat all day. */
export function refusedEvent(
  { request, host, repository }: Pick<GitAccess, 'request' | 'host'> & { readonly repository?: GitAccess['repository'] },
  { check, reason, ref }: { readonly check: string; readonly reason: string; readonly ref?: string },
): CountedEvent {
  const { name, namespace = '', uid = '' } = request.grant.metadata
  const step = { action: 'git.refused', outcome: 'denied' } as const
  const { repositories: _, repositoryIds: __, ...about } = accessFacts({ request, host, repository: { id: 0, fullName: '' } })
  const named = repository && { repositoryIds: [repository.id], repositories: [{ ...repository }] }
  return {
    record: requestRecord(request, { ...step, reason, details: { ...about, ...named, check, ...defined({ ref }) } }),
    key: JSON.stringify(['git', namespace, name, uid, check, repository?.id, ref]),
    windowMilliseconds: refusalWindowMilliseconds,
    within: {
      scope: `git ${namespace}`,
      most: maxRefusals,
      others: {
        ...step,
        actor: 'sekisho:git-proxy',
        namespace,
        object: `RepositoryGrant/${namespace}/*`,
        reason: `more than ${maxRefusals} different refusals in a minute: the others are counted here`,
        details: { check: 'others' },
      },
    },
  }
}
