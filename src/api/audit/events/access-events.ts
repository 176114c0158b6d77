// The audit events about objects that decide who has access: who is about to change one, and what changed or ended then. Part
// of the list in audit-event.ts.
import { type AuditEvent, aboutGitHub, aboutGrant } from '../audit-event-shape.ts'

const uid = 'The UID of the object that ended.'

/** Who did it, as far as the log knows: found among the records `access.changing` (docs/adr/0078-who-changes-access.md). */
const aboutDoer = {
  doer: 'Who did it: the user that the API server authenticated.',
  doerLogin: 'The login of that user at that time, for a person who signed in.',
  doers:
    'When several users asked for it so shortly one after the other that it is not known whose request it was: all of them, at most 10.',
  doerUnknown: 'Why it is not known who did it.',
} as const
const actorOfEnd =
  'Who deleted it, where that is known, else `sekisho:<kind>`: `details.doerUnknown` or `details.doers` then say why it is not.'

const aboutEnd = {
  ...aboutDoer,
  cause:
    '`Deleted`: the object itself; `OwnerEnded`: the object that owned it, such as a RemoteSync; `Replaced`: the platform makes another one for that owner; `NamespaceEnded`: its namespace; `Expired`: its time was over.',
  causeObject: 'The object whose end was the cause, where it is another one, as `Kind/namespace/name`.',
  causeAt: 'When it was deleted, by the API server, or when it expired.',
} as const

const repositoryIds = 'The numeric ids of the repositories.'
const requested = 'Permission → level that the grant requested.'

/** What a grant gives: each of its records says it all. */
const aboutAccess = {
  ...aboutGrant,
  host: aboutGitHub.host,
  installationId: aboutGitHub.installationId,
  repositoryIds,
  permissions: requested,
  subjects: 'Kind and name of who may request tokens.',
} as const

export const accessAuditEvents = {
  'access.changing': {
    description:
      'A user asked the API server to create, change or delete an object that decides about access. Recorded before the API server does it, which may still refuse; what came of it has a record of its own.',
    actor: 'The user that the API server authenticated: a person as `github|<host>|<numeric user id>`, or a program.',
    object: '`<Kind>/<namespace>/<name>`, or `<Kind>/<name>`.',
    outcomes: { allowed: 'The API server goes on with the request.' },
    details: {
      operation: '`CREATE`, `UPDATE` or `DELETE`.',
      uid: 'The UID of the object.',
      request: 'The UID of the request, as in the audit log of Kubernetes.',
      login: 'The login of the person, as the API server says it.',
      generation: aboutGrant.generation,
      specDigest: 'SHA-256 of the canonical JSON of the `spec` that the object is to have.',
      count: 'This record stands for so many further requests, equal to the record before it.',
      until: 'When the last one of them happened.',
    },
  },
  'tenant.changed': {
    description:
      'A Tenant was created, or its specification changed: who has which role, limits, account. Recorded with all of it, so that what was before is in the record before.',
    actor: 'Who did it, where that is known, else `sekisho:tenant`.',
    object: '`Tenant/<name>`',
    outcomes: { allowed: 'From now on the roles in the record count.' },
    details: {
      ...aboutDoer,
      uid: 'The UID of the Tenant.',
      host: aboutGitHub.host,
      accountId: aboutGitHub.accountId,
      accountLogin: 'The login of the account at that time.',
      generation: aboutGrant.generation,
      roles: 'Role and subject of each role, the first 100.',
      roleCount: 'How many roles there are.',
      limits: 'The limits in `spec.limits`.',
    },
  },
  'installation.ended': {
    description: 'An Installation was deleted, and its tokens were revoked.',
    actor: actorOfEnd,
    object: '`Installation/<namespace>/<name>`',
    outcomes: { allowed: 'No token is issued under it any more.' },
    details: { ...aboutEnd, host: aboutGitHub.host, installationId: aboutGitHub.installationId, uid },
  },
  'tenant.ended': {
    description: 'A Tenant was deleted: its tokens were revoked and its namespaces deleted.',
    actor: actorOfEnd,
    object: '`Tenant/<name>`',
    outcomes: { allowed: 'Nothing of the tenant is left in the cluster.' },
    details: { ...aboutEnd, host: aboutGitHub.host, accountId: aboutGitHub.accountId, uid },
  },
  'grant.access-changed': {
    description:
      'An approved RepositoryGrant stopped giving access without being ended, such as by a Halt or because its Installation was suspended, or it gives access again. Recorded before its status says so and before its tokens are revoked; also once for a grant that gives access and has no record of that.',
    actor: '`sekisho:repository-grant`',
    object: '`RepositoryGrant/<namespace>/<name>`',
    outcomes: {
      allowed: 'From now on tokens are issued under it again.',
      denied: 'From now on no token is issued under it. The reason says why.',
    },
    details: { ...aboutAccess, cause: 'The reason of its condition Ready, such as `Halted` or `InstallationNotReady`.' },
  },
  'grant.repository-changed': {
    description:
      'An approved RepositoryGrant goes on without one of its repositories, which was deleted, transferred, archived or made private, or with it again. Recorded before its status says so and before tokens that reach the repository are revoked.',
    actor: '`sekisho:repository-grant`',
    object: '`RepositoryGrant/<namespace>/<name>`',
    outcomes: {
      allowed: 'From now on tokens under it reach the repository again.',
      denied: 'From now on no token under it reaches the repository. The reason says why, and what to do.',
    },
    details: {
      ...aboutAccess,
      repositoryIds: 'The numeric id of the one repository.',
      repositories: 'Its id and name.',
      cause: 'Its `reason` in `status.endedRepositories`, such as `RepositoryNotFound`, or `Approved`.',
    },
  },
  'grant.ended': {
    description:
      'A RepositoryGrant ended: it was deleted, also because its owner or its namespace was, or its time was over. Recorded with a live token or without one, after its tokens were revoked.',
    actor: actorOfEnd,
    object: '`RepositoryGrant/<namespace>/<name>`',
    outcomes: { allowed: 'No token is issued under it any more.' },
    details: {
      ...aboutEnd,
      ...aboutGrant,
      repositoryIds,
      permissions: requested,
      decision: '`Approved` or `Denied`, or empty when it was not decided.',
      uid,
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
