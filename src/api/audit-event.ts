// The closed list of what the audit log can say. A record is who did what to which object, why, and how it ended; never a secret.
import type { JsonValue } from '../lib/json/canonical-json.ts'

export const auditActions = [
  'session.signed-in',
  'session.refused',
  'tenant.onboarded',
  'binding.denied',
  'kubectl-token.issued',
  'webhook.received',
  'webhook.refused',
  'grant.decided',
  'token.intended',
  'token.minted',
  'token.refused',
  'token.delivered',
  'token.revoked',
] as const

export type AuditAction = (typeof auditActions)[number]

export type AuditRecord = {
  readonly action: AuditAction
  /** Who: `github|host|id`, `system:serviceaccount:ns:name`, or `sekisho:<process part>`. Never empty. */
  readonly actor: string
  /** The tenant namespace concerned, when there is one. */
  readonly namespace?: string
  /** What it was done to, as `Kind/namespace/name` or a plain word. */
  readonly object: string
  readonly outcome: 'allowed' | 'denied' | 'failed'
  /** Why, in words: the grant's reason, the policy rule, the refused check. */
  readonly reason: string
  /** Facts: ids, permissions, hashes. Never a token, never a body. */
  readonly details: { readonly [key: string]: JsonValue }
}

/** A record about a tenant. */
export type TenantAuditRecord = AuditRecord & { readonly namespace: string }
