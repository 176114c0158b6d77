// The annotation of an Application that says who changed its spec: Releases name that user. The webhook writes it
// (src/admission/changed-by); this rule lets it be nothing but the truth, whoever writes it, and holds without the webhook.
import { changedByOf, changedByText, generationOf, loginPattern, maxUserName } from '../../../api/apps/application/changed-by.ts'
import { application } from '../../../api/apps/application.ts'
import { changedByAnnotation, loginExtra } from '../../../api/names.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celText, type Rule } from '../../rule.ts'

const message = `the platform writes the annotation ${changedByAnnotation}: leave it out of what you send, and as it is in the object`

/** The API server counts the generation before it asks validating admission. */
function isChanged({ operation, object, oldObject }: AdmissionRequest): boolean {
  return operation === 'CREATE' || generationOf(object) !== generationOf(oldObject)
}

const textOf = (object: string): string => `dyn(${object}).metadata.?annotations[?${celText(changedByAnnotation)}].orValue('')`

/**
 * It stays as it is; or, when the spec changes, it names the user who asks, or nobody. Nobody is exempt: whoever wrote another
 * value would have it believed at a later generation.
 */
export const changedBy: Rule = {
  name: 'changed-by',
  stops: 'a change of an Application in the name of somebody else',
  scope: 'everywhere',
  matches: [{ group: application.group, resources: [application.plural], operations: ['CREATE', 'UPDATE'] }],
  check(request) {
    const before = changedByOf(request.oldObject)
    const after = changedByOf(request.object)
    if (after === before) return undefined
    const { username: user, login } = request
    const isTrue = after === '' || after === changedByText(before, generationOf(request.object), { user, login })
    return isTrue && isChanged(request) ? undefined : message
  },
  policy: () => ({
    variables: [
      { name: 'before', expression: `oldObject == null ? '' : ${textOf('oldObject')}` },
      { name: 'after', expression: textOf('object') },
      { name: 'generation', expression: 'dyn(object).metadata.generation' },
      {
        name: 'isChanged',
        expression:
          "request.operation == 'CREATE' || dyn(object).metadata.generation != dyn(oldObject).metadata.?generation.orValue(0)",
      },
      { name: 'first', expression: "variables.before.split('-')[0] + '-'" },
      { name: 'begun', expression: "string(variables.generation) + '-'" },
      { name: 'logins', expression: `request.userInfo.?extra[?${celText(loginExtra)}].orValue([])` },
      {
        name: 'login',
        expression: `size(variables.logins) > 0 && variables.logins[0].matches(${celText(loginPattern)}) ? '@' + variables.logins[0] : ''`,
      },
      { name: 'by', expression: "variables.login + ' ' + request.userInfo.username" },
      {
        name: 'continues',
        expression: 'variables.before == variables.first + string(variables.generation - 1) + variables.by',
      },
      {
        name: 'isTrue',
        expression: [
          `size(request.userInfo.username) <= ${maxUserName} && variables.after == `,
          '(variables.continues ? variables.first : variables.begun) + string(variables.generation) + variables.by',
        ].join(''),
      },
    ],
    validation: {
      expression: "variables.after == variables.before || (variables.isChanged && (variables.after == '' || variables.isTrue))",
      message,
    },
  }),
}
