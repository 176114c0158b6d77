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

const installation = '`Installation/<namespace>/<name>`'
const installationAsItWas =
  'The API server refused it: the Installation is as it was, or as somebody else has changed it meanwhile.'
const aboutStandIn = {
  uid: 'The UID of the Installation.',
  login: aboutOwner.login,
  standIn: 'Who stands in, as `github|<host>|<numeric user id>`.',
  standInLogin: 'The login of that person when the proof was given.',
  boundBy: 'Who bound the Installation, as `github|<host>|<numeric user id>`.',
  host: aboutGitHub.host,
  accountId: aboutGitHub.accountId,
  accountLogin: 'The login of the account at that time.',
  installationId: aboutGitHub.installationId,
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
  'installation.stand-in-added': {
    description:
      'Another owner of the account confirmed the binding with its ceiling: it holds also when the person who bound it leaves. Recorded before the Installation is changed.',
    actor,
    object: installation,
    outcomes: {
      allowed: 'The reason has how ownership was proved, and when.',
      failed: installationAsItWas,
    },
    details: {
      ...aboutStandIn,
      repositories: '`All` or `Selected`: the repositories in the ceiling that was confirmed.',
      permissions: 'Permission → level in that ceiling.',
      ceilingDigest: 'SHA-256 of the canonical JSON of that ceiling.',
    },
  },
  'installation.stand-in-removed': {
    description: 'Somebody who stood in for a binding does so no more. Recorded before the Installation is changed.',
    actor,
    object: installation,
    outcomes: {
      allowed: 'The person withdrew, or an owner of the account took the person away.',
      denied: notOwner,
      failed: installationAsItWas,
    },
    details: aboutStandIn,
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
