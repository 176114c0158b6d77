// The shape of the description of an audit event; the events are in audit-event.ts and platform-audit-events.ts.

/** `allowed`: it was done. `denied`: a check or a policy refused it. `failed`: it was permitted, but an error prevented it. */
export const auditOutcomes = ['allowed', 'denied', 'failed'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** The description of one action. */
export type AuditEvent = {
  readonly description: string
  readonly actor: string
  readonly object: string
  /** The outcomes that occur, each with its meaning. */
  readonly outcomes: { readonly [O in AuditOutcome]?: string }
  /** Field of `details` → what it holds. Not every record has every field. */
  readonly details: { readonly [field: string]: string }
}
