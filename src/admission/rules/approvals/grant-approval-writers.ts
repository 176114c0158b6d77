// A GrantApproval is the word of one person. Only people who are signed in with GitHub give one, for themselves (`requested-by`):
// as themselves, or on the page of the tenant, where the broker writes it. Nobody changes it, and only its author takes it back:
// else whoever requested a grant could remove the answer that denies it. Which people may create one is RBAC: admins of the
// tenant. Break-glass (`break-glass-writers`) is for platform admins, who need not be on GitHub.
import { grantApproval } from '../../../api/github/grant-approval.ts'
import { parseUserSubject } from '../../../api/names.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable, reaping } from '../kinds/writers.ts'
import { isPersonExpression } from '../tasks/task-names.ts'
import { isAnswerOfPage, isAnswerOfPageExpression, saysPage, saysPageExpression } from './answers-of-page.ts'

const message =
  'a GrantApproval is the answer of one person: an admin of the tenant who is signed in with GitHub creates it, by sekisho grants approve or deny or on the page of the tenant, nobody changes it, and only its author deletes it'

function mayCreate(request: AdmissionRequest, identities: PlatformIdentities): boolean {
  if (saysPage(request)) return isAnswerOfPage(request, identities)
  return objectAt(request.object, 'spec')?.['breakGlass'] === true || parseUserSubject(request.username) !== undefined
}

/** Controllers delete those that can count for nothing any more. */
export const grantApprovalWriters: Rule = {
  name: 'grant-approval-writers',
  stops: 'approving a grant as a program, changing the answer of another person, or taking it back in their place',
  scope: 'everywhere',
  exempts: reaping,
  matches: [{ group: grantApproval.group, resources: [grantApproval.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check(request, identities) {
    const { operation, username, oldObject } = request
    if (operation === 'CREATE') return mayCreate(request, identities) ? undefined : message
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
        `(request.operation == 'CREATE' && (${saysPageExpression} ? ${isAnswerOfPageExpression(identities)} : object.?spec.?breakGlass.orValue(false) || ${isPersonExpression}))`,
        `(request.operation == 'DELETE' && (request.userInfo.username in ${celList(identities.controllers)} || request.userInfo.username == variables.author))`,
        mayMaintainExpression(identities),
      ].join(' || '),
      message,
    },
  }),
}
