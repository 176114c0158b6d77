// The closed list of audit events, with what each of them says, as data: docs/reference/audit-events.md is generated from it.
// An event records who did what to which object, why, and with which outcome. It never contains a secret or the body of a
// request.
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { type AuditEvent, type AuditOutcome, countDetails } from './audit-event-shape.ts'
import { accessAuditEvents } from './events/access-events.ts'
import { gitAuditEvents } from './events/git-events.ts'
import { grantAuditEvents } from './events/grant-events.ts'
import { haltAuditEvents } from './events/halt-events.ts'
import { ownerAuditEvents } from './events/owner-events.ts'
import { platformAuditEvents } from './events/platform-events.ts'
import { previewAuditEvents } from './events/preview-events.ts'
import { serviceAuditEvents } from './events/service-events.ts'
import { tokenAuditEvents } from './events/token-events.ts'

const person = 'The person, as `github|<host>|<numeric user id>`.'
const login = 'The login of the person at that time.'
const host = 'The GitHub host, such as `github.com`.'
const installationId = 'The numeric id of the installation on GitHub.'
/** Action → its description. The store accepts no other action. */
export const auditEvents = {
  'session.signed-in': {
    description: 'A person signed in on the web pages or for the command line.',
    actor: person,
    object: '`session`',
    outcomes: { allowed: 'GitHub confirmed who the person is.' },
    details: { login },
  },
  'session.refused': {
    description: 'GitHub did not accept the code with which a person returned from its sign-in page.',
    actor: '`sekisho:broker`: it is not known who it was.',
    object: '`session`',
    outcomes: { denied: 'The person was not signed in.' },
    details: { host },
  },
  'session.ended': {
    description:
      'All sign-ins of a person were ended: sessions of the web pages, and sign-ins of programs such as kubectl. An ID token that was issued before works until it expires.',
    actor: 'The person, or the platform admin who revoked the sign-ins.',
    object: '`session`',
    outcomes: {
      allowed:
        'The reason says why: the person signed out everywhere or withdrew the App on GitHub, or a platform admin revoked them.',
    },
    details: {
      person: 'Whose sign-ins ended, as `github|<host>|<numeric user id>`.',
      webSessions: 'How many sessions of the web pages ended.',
      programs: 'How many sign-ins of programs ended.',
    },
  },
  'tenant.onboarded': {
    description: 'An owner bound a GitHub account to a tenant: the Tenant and its Installation were created.',
    actor: person,
    object: '`Installation/<namespace>/<name>`',
    outcomes: { allowed: 'The person proved to administer the account. The reason names the proof.' },
    details: {
      onboarding: 'The id of the onboarding.',
      host,
      accountId: 'The numeric id of the account on GitHub.',
      accountLogin: 'The login of the account at that time.',
      installationId,
      repositories: '`All` or `Selected`: the repositories in the ceiling of the Installation.',
      permissions: 'Permission → level in the ceiling of the Installation.',
      developerTeamIds: 'The numeric ids of the teams that got the role `developer`.',
    },
  },
  'onboarding.confirmed': {
    description:
      'An owner confirmed that a GitHub account shall be onboarded. Recorded before a Tenant or an Installation is created.',
    actor: person,
    object: '`GitHubInstallation/<numeric id>`',
    outcomes: {
      allowed: 'The person proved to administer the account. The reason says whether a platform admin has to approve it.',
    },
    details: {
      onboarding: 'The id of the onboarding.',
      host,
      accountId: 'The numeric id of the account on GitHub.',
      accountLogin: 'The login of the account at that time.',
    },
  },
  'onboarding.decided': {
    description: 'A platform admin approved or refused the onboarding of an account that is not listed in `SEKISHO_ACCOUNTS`.',
    actor: 'The platform admin.',
    object: '`GitHubInstallation/<numeric id>`',
    outcomes: {
      allowed: 'It was approved, after the person who requested it proved again to administer the account.',
      denied: 'It was refused. The reason is what the admin gave, if any.',
    },
    details: {
      onboarding: 'The id of the onboarding.',
      host,
      accountId: 'The numeric id of the account on GitHub.',
      accountLogin: 'The login of the account at that time.',
      person: 'Who requested the onboarding.',
    },
  },
  'installation.replaced': {
    description:
      'An Installation is about to be deleted because its owner bound the account again: another installation, ceiling or person.',
    actor: 'The person who bound the account again.',
    object: '`Installation/<namespace>/<name>`',
    outcomes: { allowed: 'Its tokens are revoked before it is gone; then the new one is created.' },
    details: {
      onboarding: 'The id of the onboarding; absent where only another App of the pool is bound again.',
      installationId,
      uid: 'The UID of the object that ended.',
    },
  },
  'installation.added': {
    description: 'An owner binds another App of the pool on the account: its Installation is about to be created.',
    actor: person,
    object: '`Installation/<namespace>/<name>`',
    outcomes: { allowed: 'The reason has how ownership was proved, and when.' },
    details: {
      host,
      accountId: 'The numeric id of the account on GitHub.',
      accountLogin: 'The login of the account at that time.',
      app: 'The name of the ClusterGitHubApp.',
      installationId,
      repositories: '`All`, or `Selected` as for the Installation that onboarding made.',
      permissions: 'The highest levels that grants may request of it.',
    },
  },
  'binding.denied': {
    description: 'A person tried to onboard a GitHub account without proving to administer it.',
    actor: person,
    object: '`GitHubInstallation/<numeric id>`',
    outcomes: { denied: 'Nothing was created. The reason names the check that failed.' },
    details: { host, installationId, check: 'The check that failed, such as `ActiveOwner`.' },
  },
  'kubectl-token.issued': {
    description: 'The platform issued an ID token with which a person uses the Kubernetes API.',
    actor: person,
    object: '`IDToken`',
    outcomes: { allowed: 'The groups were read from GitHub when the token was issued.' },
    details: { login, groups: 'The groups in the token, by numeric ids of organizations and teams.' },
  },
  'kubectl-token.refused': {
    description:
      'A person who is signed in with GitHub was refused an ID token for the Kubernetes API. Equal refusals are recorded once a minute, with their number.',
    actor: person,
    object: '`IDToken`',
    outcomes: {
      denied: 'The person has no role in a tenant or on the platform, as the reason says, and no ID token was issued.',
    },
    details: { login, check: 'The check that refused it, such as `NoRole`.', ...countDetails },
  },
  'webhook.received': {
    description: 'A webhook of GitHub was processed.',
    actor: 'The person who caused the event on GitHub, or `github|<host>` if there is none.',
    object: '`Webhook/<delivery id>`',
    outcomes: { allowed: 'The signature is valid. The reason is the event, such as `push` or `installation.created`.' },
    details: {
      host,
      repositoryId: 'The numeric id of the repository, or null.',
      woken: 'The objects that are checked because of the event, at most 50 of them.',
      wokenCount: 'How many objects are checked because of the event.',
    },
  },
  'webhook.refused': {
    description:
      'A request to the webhook endpoint was refused. The first 10 of each minute are recorded one by one, the others together when the minute ends.',
    actor: '`sekisho:webhook-inbox`: it is not known who it was.',
    object: '`Webhook`',
    outcomes: { denied: 'The signature is not valid, or the body does not fit the event. The reason says which.' },
    details: {
      address: 'The IP address from which the request came.',
      addresses: 'In the record of the others: address → how many requests came from it, the 10 most frequent.',
      refusalsThisMinute: 'How many requests were refused in this minute so far.',
    },
  },
  'audit-log.shortened': {
    description:
      'The audit log had lost entries that were durable once: the database failed over to a copy that lagged, a backup was restored, or entries were deleted. Recorded by each process for the entries that it had written itself; the log of the process holds them in full. A checkpoint from before contradicts the log from now on.',
    actor: '`sekisho:audit-log`: it is not known who it was, if anybody.',
    object: '`AuditLog`',
    outcomes: { failed: 'The entries are gone. New entries have taken their numbers.' },
    details: {
      foundSequence: 'The number of the newest entry that the log still had.',
      foundHash: 'The hash of that entry.',
      knownSequence: 'The number of the newest entry that the process had written.',
      knownHash: 'The hash of that entry.',
      lostFrom: 'The number of the first entry that the process had written and that is gone.',
      lostEntries: 'How many entries of the process are gone.',
      lost: 'The newest 40 of them: number, action, object, and the id of the token if it was about one.',
    },
  },
  ...accessAuditEvents,
  ...ownerAuditEvents,
  ...tokenAuditEvents,
  ...gitAuditEvents,
  ...haltAuditEvents,
  ...previewAuditEvents,
  ...serviceAuditEvents,
  ...grantAuditEvents,
  ...platformAuditEvents,
} as const satisfies Readonly<Record<string, AuditEvent>>

export type AuditAction = keyof typeof auditEvents

/** All actions, in the order of the list. */
export const auditActions = Object.keys(auditEvents) as readonly AuditAction[]

type DetailsOf<A extends AuditAction> = keyof (typeof auditEvents)[A]['details']

/** A described field of `details`: a field that no event describes does not compile. */
export type AuditDetail = { [A in AuditAction]: DetailsOf<A> }[AuditAction]

/** What is appended to the log; the store adds sequence, time and hashes. */
export type AuditRecord = {
  readonly action: AuditAction
  /** Who: `github|host|id`, `system:serviceaccount:ns:name`, or `sekisho:<part of the platform>`. Never empty. */
  readonly actor: string
  /** The namespace of the affected tenant, when there is one. */
  readonly namespace?: string
  /** What it was done to, as `Kind/namespace/name` or one word. */
  readonly object: string
  readonly outcome: AuditOutcome
  /** Why, as text for people: the reason of the grant, the policy rule, the check that refused. */
  readonly reason: string
  /** Facts such as ids, permissions and hashes. Never a token or the body of a request. */
  readonly details: { readonly [F in AuditDetail]?: JsonValue }
}

/** A record about a tenant. */
export type TenantAuditRecord = AuditRecord & { readonly namespace: string }
