// The audit events about what owners of a GitHub account do with their tenant on its page. Part of the list in audit-event.ts.
import { type AuditEvent, aboutGitHub, aboutGrant } from '../audit-event-shape.ts'

const actor = 'The person, as `github|<host>|<numeric user id>`.'
const object = '`Tenant/<name>`'
const notOwner = 'GitHub did not name the person as an owner of the account; nothing was changed.'
const aboutOwner = {
  uid: 'The UID of the Tenant.',
  login: 'The login of the person at that time.',
  host: aboutGitHub.host,
  accountId: aboutGitHub.accountId,
  accountLogin: 'The login of the account at that time.',
} as const

export const ownerAuditEvents = {
  'tenant.roles-changed': {
    description:
      'An owner of the GitHub account changed who has which role, on the page of the tenant. Recorded before it is written; `tenant.changed` follows when the platform acts on it.',
    actor,
    object,
    outcomes: {
      allowed: 'The person proved to be an owner; the roles in the record are written.',
      denied: notOwner,
      failed: 'The API server refused it: the Tenant is as it was, or as somebody else has changed it meanwhile.',
    },
    details: {
      ...aboutOwner,
      generation: aboutGrant.generation,
      specDigest: 'SHA-256 of the canonical JSON of the `spec` that the Tenant is to have.',
      rolesBefore: 'Role and subject of each role before.',
      roles: 'Role and subject of each role from then on.',
    },
  },
  'tenant.offboarded': {
    description:
      'An owner of the GitHub account ended the tenant on its page. Recorded before the Tenant is deleted; `tenant.ended` follows when nothing of it is left.',
    actor,
    object,
    outcomes: { allowed: 'The person proved to be an owner and typed the name; the Tenant is deleted.', denied: notOwner },
    details: aboutOwner,
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
