// `spec.requestedBy` is the user who makes the request: the controllers later check on GitHub what that person may do, and the
// audit log names them. The exceptions are what the controllers create for an object of a kind that follows a repository or
// owns Applications, such as a grant, which carries the name in that object, and answers that people give on a page.
import { delegatingKinds, requesterKinds } from '../../../api/registry.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { isAnswerOfPage, isAnswerOfPageExpression } from '../approvals/answers-of-page.ts'
import { isControlledBy, isControlledByExpression } from '../owner-kinds.ts'

function isOwned({ username, object }: AdmissionRequest, identities: PlatformIdentities): boolean {
  return identities.controllers.includes(username) && isControlledBy(delegatingKinds, object)
}

const afterName = ', the user who makes the request; omit the field to have it filled in'

/** `matches` is also what the mutating webhook fills in. */
export const requestedBy: Rule = {
  name: 'requested-by',
  stops: 'requesting access in the name of a person who has more of it',
  scope: 'everywhere',
  matches: requesterKinds.map(({ kind, operations }) => ({ group: kind.group, resources: [kind.plural], operations })),
  check(request, identities) {
    const { operation, object, oldObject, username } = request
    if (operation === 'UPDATE' && sameJson(object?.['spec'], oldObject?.['spec'])) return undefined
    if (isOwned(request, identities) || isAnswerOfPage(request, identities)) return undefined
    if (textAt(objectAt(object, 'spec'), 'requestedBy') === username) return undefined
    return `spec.requestedBy must be ${username}${afterName}`
  },
  policy: identities => ({
    variables: [
      {
        name: 'unchanged',
        expression: "request.operation == 'UPDATE' && dyn(object).?spec == dyn(oldObject).?spec",
      },
      {
        name: 'owned',
        expression: `request.userInfo.username in ${celList(identities.controllers)} && ${isControlledByExpression(delegatingKinds, 'dyn(object)')}`,
      },
      { name: 'ofPage', expression: isAnswerOfPageExpression(identities) },
    ],
    validation: {
      expression:
        "variables.unchanged || variables.owned || variables.ofPage || dyn(object).spec.?requestedBy.orValue('') == request.userInfo.username",
      messageExpression: `'spec.requestedBy must be ' + request.userInfo.username + ${celText(afterName)}`,
    },
  }),
}
