// A PreviewApproval is the record that a person with write access let a stranger's code run. No person writes one, platform
// admins included: whoever approves is asked about at GitHub first, and only our processes ask.
import { approvalWays, brokerWays, previewApproval } from '../../../api/apps/preview-approval.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable, reaping } from '../kinds/writers.ts'

const message =
  'PreviewApprovals are written by the platform only: approve with sekisho previews approve, on the web page, or with the comment "/sekisho approve <full commit id>" on the pull request'

const controllerWays = approvalWays.filter(way => !brokerWays.includes(way))

/**
 * An approval is made by the process that saw the person: the broker for its page and API, the controllers for what GitHub
 * keeps.
 */
function mayCreate({ username, object }: AdmissionRequest, { brokers, controllers }: PlatformIdentities): boolean {
  const via = textAt(objectAt(object, 'spec'), 'via')
  const isOneOf = (ways: readonly string[]): boolean => via !== undefined && ways.includes(via)
  return (brokers.includes(username) && isOneOf(brokerWays)) || (controllers.includes(username) && isOneOf(controllerWays))
}

/** The CEL twin of `mayCreate`. */
function mayCreateExpression({ brokers, controllers }: PlatformIdentities): string {
  const by = (users: readonly string[], ways: readonly string[]): string =>
    `(request.userInfo.username in ${celList(users)} && variables.via in ${celList(ways)})`
  return `(request.operation == 'CREATE' && (${by(brokers, brokerWays)} || ${by(controllers, controllerWays)}))`
}

/**
 * Broker and controllers create, each in its own ways; controllers maintain and delete; Kubernetes' reapers delete with the
 * AppPipeline.
 */
export const previewApprovalWriters: Rule = {
  name: 'preview-approval-writers',
  stops: 'running the code of a fork that nobody with write access approved, by a forged approval or by a changed one',
  scope: 'everywhere',
  exempts: reaping,
  matches: [{ group: previewApproval.group, resources: [previewApproval.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check: (request, identities) => {
    if (request.operation === 'CREATE') return mayCreate(request, identities) ? undefined : message
    const isEnd = request.operation === 'DELETE' && identities.controllers.includes(request.username)
    return isEnd || mayMaintain(request, identities) ? undefined : message
  },
  policy: identities => ({
    variables: [metadataOnlyVariable, { name: 'via', expression: "object.?spec.?via.orValue('')" }],
    validation: {
      expression: `${mayCreateExpression(identities)} || (request.operation == 'DELETE' && request.userInfo.username in ${celList(identities.controllers)}) || ${mayMaintainExpression(identities)}`,
      message,
    },
  }),
}
