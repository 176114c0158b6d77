// A GrantApproval is the word of one person. Only people who are signed in with GitHub give one, for themselves (`requested-by`),
// nobody changes it, and only its author takes it back: else whoever requested a grant could remove the answer that denies it.
// Which people may create one is RBAC: admins of the tenant.
import { grantApproval } from '../../../api/github/grant-approval.ts'
import { parseUserSubject } from '../../../api/names.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { celList, type Rule } from '../../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable, reaping } from '../kinds/writers.ts'
import { isPersonExpression } from '../tasks/task-names.ts'

const message =
  'a GrantApproval is the answer of one person: an admin of the tenant who is signed in with GitHub creates it, by sekisho grants approve or deny, nobody changes it, and only its author deletes it'

/** Controllers delete those that can count for nothing any more. */
export const grantApprovalWriters: Rule = {
  name: 'grant-approval-writers',
  stops: 'approving a grant as a program, changing the answer of another person, or taking it back in their place',
  scope: 'everywhere',
  exempts: reaping,
  matches: [{ group: grantApproval.group, resources: [grantApproval.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check(request, identities) {
    const { operation, username, oldObject } = request
    if (operation === 'CREATE') return parseUserSubject(username) === undefined ? message : undefined
    const isEnd =
      operation === 'DELETE' &&
      (identities.controllers.includes(username) || textAt(objectAt(oldObject, 'spec'), 'requestedBy') === username)
    return isEnd || mayMaintain(request, identities) ? undefined : message
  },
  policy: identities => ({
    variables: [
      metadataOnlyVariable,
      { name: 'author', expression: "oldObject == null ? '' : oldObject.?spec.?requestedBy.orValue('')" },
    ],
    validation: {
      expression: [
        `(request.operation == 'CREATE' && ${isPersonExpression})`,
        `(request.operation == 'DELETE' && (request.userInfo.username in ${celList(identities.controllers)} || request.userInfo.username == variables.author))`,
        mayMaintainExpression(identities),
      ].join(' || '),
      message,
    },
  }),
}
