// The audit events about what people answer to grants on pages. Part of the list in audit-event.ts.
import { type AuditEvent, aboutGitHub, aboutGrant } from '../audit-event-shape.ts'

export const grantAuditEvents = {
  'grant.answered': {
    description:
      'A person approved or denied a RepositoryGrant on the page of the tenant. Recorded before the GrantApproval is created; `grant.decided` has what comes of it, also for answers that people give by kubectl or the command line.',
    actor: 'The person, as `github|<host>|<numeric user id>`.',
    object: '`RepositoryGrant/<namespace>/<name>`',
    outcomes: {
      allowed: 'RBAC lets the person create GrantApprovals, and they did not request the grant. The reason is what they wrote.',
      denied: 'The person may not answer. The reason says why.',
      failed: 'The API server refused the answer: nothing was stored.',
    },
    details: {
      host: aboutGitHub.host,
      login: 'The login of the person at that time.',
      grantUid: aboutGrant.grantUid,
      answer: '`Approve` or `Deny`.',
      via: '`Page`.',
      lifetimeSeconds: 'How long the approval counts, in seconds. Absent for a denial.',
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
