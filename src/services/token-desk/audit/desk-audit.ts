// The token desk's records in the audit log: one shape for every step of a token, with ids and permissions and never the token
// itself.
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import type { TokenIntent } from '../../../store/token-registry.ts'
import type { TokenRequest } from '../token-desk.ts'
import type { CountedEvent } from './counted-audit.ts'

/** Resolves when the record is durable. */
export type AuditAppend = { readonly append: (record: AuditRecord) => Promise<unknown> }

type Step = Pick<AuditRecord, 'action' | 'outcome' | 'reason'>

/** What is known of a token, or of the intent to mint one. `tokenId` is the registry's and reveals nothing about the token. */
export function tokenFacts(intent: TokenIntent, tokenId: string): Record<string, JsonValue> {
  const { installation, subject } = intent
  return {
    token: tokenId,
    host: installation.host,
    appId: installation.appId,
    installationId: installation.installationId,
    repositoryIds: [...intent.repositoryIds],
    permissions: { ...intent.permissions },
    subject: { kind: subject.kind, name: subject.name, uid: subject.uid },
    grantUid: intent.grantUid,
  }
}

/** The record of one step that a request caused. */
export function requestRecord(request: TokenRequest, step: Step & Pick<AuditRecord, 'details'>): AuditRecord {
  const { name, namespace = '' } = request.grant.metadata
  return { ...step, actor: request.actor, namespace, object: `RepositoryGrant/${namespace}/${name}` }
}

/** The record of a step that the desk takes without a request: sweeping, revoking. */
export function tokenRecord(token: TokenIntent & { readonly id: string }, step: Step): AuditRecord {
  const { namespace, name } = token.subject
  const object = token.grantName === '' ? name : `RepositoryGrant/${namespace}/${token.grantName}`
  return { ...step, actor: 'sekisho:token-desk', namespace, object, details: tokenFacts(token, token.id) }
}

/** Refusals by one check under one grant are counted for so long, after a record of the first. */
const refusalWindowMilliseconds = 60_000
/** Different refusals of one namespace that are recorded by themselves in that time. */
const maxRefusals = 20

/** A refused request, as an event that the same workload may repeat all day. */
export function refusalOf(request: TokenRequest, check: string, reason: string): CountedEvent {
  const { name, namespace = '', uid = '' } = request.grant.metadata
  const step = { action: 'token.refused', outcome: 'denied' } as const
  const record = requestRecord(request, { ...step, reason, details: { check, subject: { ...request.subject } } })
  const others: AuditRecord = {
    ...step,
    actor: 'sekisho:token-desk',
    namespace,
    object: `RepositoryGrant/${namespace}/*`,
    reason: `more than ${maxRefusals} different refusals in a minute: the others are counted here`,
    details: { check: 'others' },
  }
  const key = `refused ${namespace}/${name} ${uid} ${check}`
  return { record, key, windowMilliseconds: refusalWindowMilliseconds, within: { scope: namespace, most: maxRefusals, others } }
}
