// The token desk's records in the audit log: one shape for every step of a token, with ids and permissions and never the token itself.
import type { AuditRecord } from '../api/audit-event.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import type { TokenIntent } from '../store/token-registry.ts'
import type { TokenRequest } from './token-desk.ts'

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
