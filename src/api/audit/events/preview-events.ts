// The audit events about previews of pull requests. Part of the list in audit-event.ts.
import type { AuditEvent } from '../audit-event-shape.ts'

export const previewAuditEvents = {
  'preview.approved': {
    description:
      'A person approved one commit of a pull request from a fork, so that the platform fetches, builds and runs it. Recorded before the PreviewApproval is created.',
    actor:
      'The person, as `github|<host>|<numeric user id>`. For `via: Trusted` the author of the pull request, who did nothing but push.',
    object: '`PreviewApproval/<namespace>/<name>`; `AppPipeline/<namespace>/<name>` when it was refused.',
    outcomes: {
      allowed: 'GitHub said that the person may write to the repository, and that the commit is the head of the pull request.',
      denied: 'The person asked for it on the page or by the command line and may not. The reason says why.',
    },
    details: {
      host: 'The GitHub host, such as `github.com`.',
      login: 'The login of the person at that time.',
      pipelineUid: 'The UID of the AppPipeline.',
      repositoryId: 'The numeric id of the repository.',
      pullRequest: 'The number of the pull request.',
      headCommit: 'The full id of the commit.',
      via: '`Comment`, `Review`, `Page`, `CommandLine` or `Trusted`.',
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
