// Break-glass stands for the approval of everybody who would have to approve. Platform admins alone give one: an admin of the
// tenant, or who has bound a wide role, would otherwise approve in the place of all others.
import { grantApproval } from '../../../api/github/grant-approval.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import type { Rule } from '../../rule.ts'

const message =
  'spec.breakGlass is for platform admins (who may administer platforms.sekisho.dev): leave it out, and another admin of the tenant approves'

export const breakGlassWriters: Rule = {
  name: 'break-glass-writers',
  stops: 'approving a grant in the place of everybody else as an admin of the tenant, or as a program',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [{ group: grantApproval.group, resources: [grantApproval.plural], operations: ['CREATE'] }],
  check: ({ object }) => (objectAt(object, 'spec')?.['breakGlass'] === true ? message : undefined),
  policy: () => ({
    variables: [],
    validation: { expression: '!object.?spec.?breakGlass.orValue(false)', message },
  }),
}
