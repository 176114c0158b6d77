// A platform admin has the right to create answers in every namespace, for break-glass, which ends within the hour and is loud.
// By an ordinary approval they would stand for an admin of the tenant quietly, for a month. So that one is for who may `approve`
// there, as admins of the tenant may, who can be platform admins as well. A policy only: who is what only the API server knows.
import { approvalRight, grantApproval } from '../../../api/github/grant-approval.ts'
import { administers, celText, type PolicyRule } from '../../rule.ts'

const { group, resource, verb } = approvalRight
const approves = `authorizer.group(${celText(group)}).resource(${celText(resource)}).namespace(request.namespace).check(${celText(verb)}).allowed()`

export const administratorsApprovals: PolicyRule = {
  name: 'administrators-approvals',
  stops: 'approving a grant quietly as a platform admin, in the place of an admin of the tenant',
  scope: 'everywhere',
  matches: [{ group: grantApproval.group, resources: [grantApproval.plural], operations: ['CREATE'] }],
  policy: () => ({
    variables: [],
    validation: {
      expression: [
        "object.?spec.?answer.orValue('') != 'Approve'",
        'object.?spec.?breakGlass.orValue(false)',
        `!${administers}`,
        approves,
      ].join(' || '),
      message:
        'admins of the tenant approve its grants: a platform admin who is none of them approves in an emergency by break-glass (sekisho grants approve --break-glass)',
    },
  }),
}
