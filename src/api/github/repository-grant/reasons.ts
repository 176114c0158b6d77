// The reasons of the conditions of a RepositoryGrant, each with its class and what to do.
import { defineReasons, pacedByPlatform, rightMissing } from '../../reasons/reason.ts'
import { deliveryReasons } from './delivery.ts'

/** Their names are `repositoryGrantReasons`. */
export const grantReasons = defineReasons(
  {
    ready: {
      Approved: 'A policy rule allows the requested access, and the requester has it on GitHub.',
    },
    machine: {
      GitHubUnreachable:
        'GitHub does not answer, or limits the rate of requests. An approved grant stays ready for a day after its last check.',
    },
    intended: {
      WaitingForApproval:
        'A policy requires that admins of the tenant who did not request the grant approve it, or a ServiceAccount requested it and somebody with the access on GitHub has to approve. `sekisho grants approve` does; the message says how many are missing.',
      Halted:
        'A Halt stands in the way: no token is issued under the grant. The message names it; whoever may lift it does so with `sekisho resume`.',
    },
    person: {
      InstallationNotReady: 'The Installation that `spec.installation` names does not exist or is not ready.',
      RepositoryNotFound:
        'The installation of the App does not contain one of the repositories. Check the names, or add the repositories to the installation on GitHub.',
      RepositoryArchived:
        'A repository is archived on GitHub, where nothing can be written, and the grant has a permission to write. Unarchive the repository, or request permissions to read only.',
      RequesterLacksAccess:
        'The requester does not have the requested access on GitHub. A person who has it must create the grant.',
      ApplicationNotFound:
        'There is no Application of the name in `spec.subjects`. Before the first approval the grant waits for it; an approved grant ends with it.',
      ApplicationReplaced:
        'The Application that the grant was approved for was deleted, and another one has its name. Delete the grant and create it again.',
      ApplicationIsolated: 'The Application is isolated (`spec.isolated`): its code is not trusted, and it gets no token.',
      RequesterUnknown:
        'The requester is not a person on the GitHub host of the Installation. A person who is signed in with GitHub must create the grant.',
      RepositoryReplaced:
        'A name in `spec.repositories` means another repository than when people were asked. Delete the grant and create it again: what they approved was the first one.',
      Expired: '`lifetimeSeconds` have passed since the approval. Delete the grant and create it again.',
    },
    failed: {
      DeniedByPerson:
        'An admin of the tenant denied the grant. It is denied until that person takes the answer back. The message names them.',
      DeniedByPolicy:
        'No policy rule allows the requested access, or a rule forbids it. The message names the rule. Request less.',
      DeniedByGrantPolicy:
        'A rule of a GrantPolicy or of a ClusterGrantPolicy forbids the requested access, or none allows it. The message names it. Request less, or ask who may write the policy.',
      UnknownPermissionLevel:
        'GitHub does not have the requested level for the permission, such as `contents: admin`. The message names the levels that exist.',
      AboveCeiling: 'The grant requests a repository or a permission that `spec.ceiling` of the Installation does not contain.',
    },
  },
  { unreachable: 'GitHubUnreachable' },
  rightMissing,
  pacedByPlatform,
  deliveryReasons,
)
