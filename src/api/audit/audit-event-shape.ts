// The shape of the description of an audit event, and what several of them say in the same words; the events are in
// audit-event.ts and in the lists beside it.

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

/** Of a record that may stand for many equal events (docs/adr/0023-equal-events-are-counted.md). */
export const countDetails = {
  count: 'This record stands for so many events that were equal to the record before it, and followed within its window.',
  until: 'When the last one of them happened.',
} as const

/** What grants and tokens are said to be about. */
export const aboutGitHub = {
  host: 'The GitHub host, such as `github.com`.',
  installationId: 'The numeric id of the installation on GitHub.',
  accountId: 'The numeric id of the account on GitHub.',
} as const

/** Whose access it is, and by which grant: the same in the events of grants and of tokens. */
export const aboutGrant = {
  person: 'In whose name the access is: `spec.requestedBy` of the RepositoryGrant.',
  login: 'The login of that person when GitHub was last asked.',
  grantUid: 'The UID of the RepositoryGrant.',
  generation: 'The generation of the RepositoryGrant, or of the object that changed.',
  rule: 'The check or the policy rule that decided about the grant.',
  inputs: 'A digest of the Installation and the policy rules that it was decided from.',
  repositories:
    'Id and name of each repository; the first 50, as they were called then. For a token that the platform uses itself the names that it asked for.',
} as const
