// The audit events of the git proxy. Part of the list in audit-event.ts.
import { type AuditEvent, aboutGitHub, aboutGrant, countDetails } from '../audit-event-shape.ts'

const actor = 'The ServiceAccount of the pod, as `system:serviceaccount:<namespace>:<name>`.'
const object = '`RepositoryGrant/<namespace>/<name>`'
const accessDetails = {
  host: aboutGitHub.host,
  repositoryIds: 'The numeric id of the repository, in a list.',
  repositories: aboutGrant.repositories,
  subject: 'Kind, name and UID of the subject that asked.',
  grantUid: aboutGrant.grantUid,
  pod: 'Name and UID of the pod that asked.',
  address: 'The IP address from which the request came.',
} as const
const updateDetails = {
  ...accessDetails,
  push: 'The id of the push: it joins the events of its refs.',
  ref: 'The full name of the ref, such as `refs/heads/main`.',
  from: 'The commit that the pusher saw there; zeros for a ref that is new.',
  to: 'The commit that the ref shall point to; zeros for a ref that is deleted.',
} as const

export const gitAuditEvents = {
  'git.push-intended': {
    description: 'A workload pushes a ref through the git proxy. Recorded for each ref before GitHub gets anything of the push.',
    actor,
    object,
    outcomes: { allowed: 'The grant and the ref were checked. What became of it is in `git.pushed`.' },
    details: updateDetails,
  },
  'git.pushed': {
    description: 'GitHub answered to the push of a ref through the git proxy. Recorded before the workload has the whole answer.',
    actor: `${actor.slice(0, -1)}; \`sekisho:git-proxy\` for a push whose process ended.`,
    object,
    outcomes: {
      allowed: 'GitHub reported that it took the ref.',
      denied: 'GitHub reported that it did not take the ref, with its reason, such as a protected branch.',
      failed:
        'GitHub did not report on the ref: the transfer broke off or was cut, or the process ended, which the leader records within an hour and a half. Look at the ref on GitHub.',
    },
    details: updateDetails,
  },
  'git.refused': {
    description:
      'The git proxy refused what a workload asked for under a grant. Equal refusals are recorded once a minute, with their number.',
    actor,
    object,
    outcomes: { denied: 'GitHub got nothing of it.' },
    details: {
      ...accessDetails,
      check: '`OtherHost`, `OtherRepository`, `NoPermission` or `RefNotAllowed`.',
      ref: 'The ref, for `RefNotAllowed`.',
      ...countDetails,
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
