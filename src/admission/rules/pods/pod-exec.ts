// Commands in running pods. A pod under a ServiceAccount that a RepositoryGrant names can hold a GitHub token, and whoever runs
// a command in it has that token without a trace in the audit log. The API server does not show the pod to admission (it
// evaluates CONNECT before it looks the pod up), so the rule closes the whole namespace while such a grant exists there. A
// policy only: it reads the grants itself, which the webhook cannot. Attaching is judged by the rule `pod-attach`.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
import { repositoryGrant, repositoryGrantReasons } from '../../../api/github/repository-grant.ts'
import { celText, type PolicyRule } from '../../rule.ts'

const namesServiceAccount = "params.spec.subjects.exists(subject, subject.kind == 'ServiceAccount')"

/**
 * CEL: denied and expired grants give no token. A grant that is not decided yet counts, because it may be approved while the
 * command runs, as does one that a person denied, who can take that back.
 */
export const hasEnded = [
  "(params.?status.?decision.orValue('') == 'Denied' && !params.?status.?rule.orValue('').startsWith('GrantApproval/'))",
  `params.?status.?conditions.orValue([]).exists(condition, condition.type == 'Ready' && condition.reason == ${celText(repositoryGrantReasons.expired)})`,
].join(' || ')

/** For everybody but platform admins. */
export const podExec: PolicyRule = {
  name: 'pod-exec',
  stops: 'taking a GitHub token out of the pod to which the token desk delivered it, by a command in that pod',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['pods/exec'], operations: ['CONNECT'] }],
  param: repositoryGrant,
  policy: () => ({
    variables: [],
    validation: {
      expression: `!${namesServiceAccount} || ${hasEnded}`,
      messageExpression:
        "'no commands in pods of this namespace while RepositoryGrant ' + params.metadata.name + ' lets pods get GitHub tokens: use `sekisho run` or `sekisho shell`, or delete the grant'",
    },
  }),
}
