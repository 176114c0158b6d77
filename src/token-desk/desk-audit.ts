// The desk's words in the audit log: one record shape for every step of a token, with ids and permissions and never the token.
import type { AuditAction, AuditRecord } from '../api/audit-event.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import type { TokenIntent } from '../store/token-registry.ts'
import type { TokenRequest } from './token-desk.ts'

export type AuditAppend = { readonly append: (record: AuditRecord) => Promise<unknown> }

/** What is known of a token, or of the wish for one. `tokenId` is the registry's, which says nothing about the token itself. */
export function tokenFacts(wish: TokenIntent, tokenId: string): Record<string, JsonValue> {
  return {
    token: tokenId,
    host: wish.installation.host,
    appId: wish.installation.appId,
    installationId: wish.installation.installationId,
    repositoryIds: [...wish.repositoryIds],
    permissions: { ...wish.permissions },
    subject: { kind: wish.subject.kind, name: wish.subject.name, uid: wish.subject.uid },
    grantUid: wish.grantUid,
  }
}

export function requestRecord(
  action: AuditAction,
  request: TokenRequest,
  outcome: AuditRecord['outcome'],
  reason: string,
  details: AuditRecord['details'],
): AuditRecord {
  const { name, namespace = '' } = request.grant.metadata
  return { action, actor: request.actor, namespace, object: `RepositoryGrant/${namespace}/${name}`, outcome, reason, details }
}

/** For what the desk does by itself with a token: sweeping, revoking. */
export function tokenRecord(
  action: AuditAction,
  actor: string,
  wish: TokenIntent,
  tokenId: string,
  outcome: AuditRecord['outcome'],
  reason: string,
): AuditRecord {
  const { namespace } = wish.subject
  const object = wish.grantName === '' ? wish.subject.name : `RepositoryGrant/${namespace}/${wish.grantName}`
  return { action, actor, namespace, object, outcome, reason, details: tokenFacts(wish, tokenId) }
}
