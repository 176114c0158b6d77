// The audit events about grants and the tokens under them. Part of the list in audit-event.ts.
import { type AuditEvent, aboutGitHub, aboutGrant, countDetails } from '../audit-event-shape.ts'

const tokenActor =
  'The user that requested the token (`system:serviceaccount:<namespace>:<name>`), or the part of the platform that did, such as `sekisho:remote-sync`.'
const tokenObject =
  '`RepositoryGrant/<namespace>/<name>`; for a token that the platform uses itself also `Installation/<namespace>/<name>` or `Tenant/<name>`.'
const tokenDetails = {
  token:
    'The id of the token in the registry of the platform. It says nothing about the token itself and joins the events of one token.',
  host: aboutGitHub.host,
  appId: 'The ID of the GitHub App.',
  installationId: aboutGitHub.installationId,
  repositoryIds: 'The numeric ids of the repositories that the token reaches.',
  permissions: 'Permission → level that the token has.',
  subject: 'Kind, name and UID of the subject that uses the token.',
  pod: 'Name and UID of the pod that asked for it, for a ServiceAccount.',
  address: 'The IP address from which that request came.',
  delivery:
    '`GitProxy` when the token never left the platform: the git proxy used it for the subject. `Secret` when it was written into the Secret of the subject.',
  pullRequest: 'The number of the pull request that the RemoteSync follows.',
  ...aboutGrant,
} as const
const hashedToken =
  'SHA-256 of the token, in base64: `hashed_token` in the audit log of GitHub. It identifies the token and cannot be used for anything.'

export const tokenAuditEvents = {
  'grant.decided': {
    description: 'A RepositoryGrant was approved or denied, waits for people, or the decision about it changed.',
    actor: 'The user in `spec.requestedBy` of the grant.',
    object: '`RepositoryGrant/<namespace>/<name>`',
    outcomes: {
      allowed: 'The grant was approved. The reason is that of the grant, then that of the decision.',
      denied: 'The grant was denied, or waits for approval.',
    },
    details: {
      ...aboutGrant,
      decision: '`Approved`, `Waiting` (people have to approve it) or `Denied`.',
      check: 'The reason in the condition `Approved`.',
      host: aboutGitHub.host,
      installationId: aboutGitHub.installationId,
      repositoryIds: 'The numeric ids of the repositories.',
      permissions: 'Permission → level that the grant requests.',
      subjects: 'Kind and name of each subject.',
      delivery: 'How subjects get their tokens.',
      refs: 'The refs that a push may change (`spec.git.refs`). Absent when the grant names none.',
      approvedBy: 'Who approved it, of those whose answers count. Absent when nobody did.',
      departed: 'Who had approved it and has left the organization since. Absent when nobody has.',
      breakGlass:
        'By whom, why and until when a platform admin approved it in an emergency, without the approvals that it needs. Absent otherwise.',
    },
  },
  'token.intended': {
    description: 'The platform is about to request a token from GitHub. Recorded before the request is sent.',
    actor: tokenActor,
    object: tokenObject,
    outcomes: { allowed: 'All checks passed. The reason is that of the grant.' },
    details: tokenDetails,
  },
  'token.minted': {
    description: 'GitHub created a token, and it is what the platform requested. Recorded before it is delivered.',
    actor: tokenActor,
    object: tokenObject,
    outcomes: { allowed: 'The token can be delivered.' },
    details: {
      ...tokenDetails,
      hashedToken,
      expiresAt: 'When GitHub lets the token expire.',
      livesUntil: 'When the platform revokes it, where that is earlier.',
    },
  },
  'token.refused': {
    description:
      'A token was not issued. Equal refusals by one check under one grant are recorded once a minute, with their number.',
    actor: tokenActor,
    object: tokenObject,
    outcomes: {
      denied:
        'A check refused the request, the quota of the tenant is exhausted, or GitHub created another token than was requested.',
      failed: 'GitHub did not create the token or did not answer, or the process ended before the outcome was known.',
    },
    details: {
      ...tokenDetails,
      check: 'The check that refused the request; docs/reference/errors.md lists them.',
      difference: '`wider`, `narrower` or `unusable`: how the token differs from the request.',
      ...countDetails,
    },
  },
  'token.delivered': {
    description:
      'A token was passed to its subject, either a new one or one that was created earlier for the same request. Recorded before it is passed; after ten records of one token within ten minutes the further deliveries are one record with their number.',
    actor: tokenActor,
    object: tokenObject,
    outcomes: { allowed: 'The grant was checked again immediately before.' },
    details: { ...tokenDetails, hashedToken, ...countDetails },
  },
  'token.revoked': {
    description: 'A token was revoked at GitHub: its grant, its Installation or its subject ended, or the platform has used it.',
    actor: '`sekisho:token-desk`, or the part of the platform that used the token.',
    object: tokenObject,
    outcomes: {
      allowed: 'GitHub does not accept the token any more. The reason says why it was revoked.',
      failed:
        'GitHub did not revoke the token yet: it did not answer, or the installation is suspended, so that the token can be used for nothing. The platform tries again until the token expires. Recorded at the first attempt, at the first one of a suspension, and when the token expires unrevoked.',
    },
    details: {
      ...tokenDetails,
      hashedToken,
      cause: 'Why it ended: what the reason begins with, also when GitHub was asked again later.',
      causeAt: 'When the platform learned of that cause: the token could not be delivered from then on.',
      answer:
        'What GitHub answered: `revoked` (it revoked the token now), `invalid` (it did not accept the token any more: it was revoked before, also by the platform that ended before this record, or its installation is gone), `suspended`, or `none` when it did not revoke the token.',
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
