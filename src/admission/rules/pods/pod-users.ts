// As which user of the node the pods of a tenant run: one of the tenant's own range, so that no limit that the kernel counts by
// user is shared with another tenant or with the platform. A policy only: the range is a label of the namespace, which the
// webhook does not see. The mutation of src/admission/mutations moves ids into the range before. A user namespace is refused:
// the kernel charges its inotify instances and pending signals to whoever made it, which is root of the node, and so shares
// them between all of them (docs/adr/0056-every-tenant-has-user-ids-of-its-own.md).
import { labels } from '../../../api/names.ts'
import { userRangeSize } from '../../../lib/limits/user-range.ts'
import { celText, type PolicyRule } from '../../rule.ts'

const first = celText(labels.firstUser)
const isInRange = (id: string): string => `(${id} >= variables.first && ${id} < variables.first + ${userRangeSize})`
const none = -1
const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const

/**
 * Of an existing pod nothing of this can change, so that one that is older than its range can be labelled, deleted and
 * finished.
 */
export const podUsers: PolicyRule = {
  name: 'pod-users',
  stops:
    'exhausting what the kernel counts by user (epoll watches, inotify, message queues) for pods of others that have the same user',
  scope: 'tenant-namespaces',
  matches: [{ group: '', resources: ['pods', 'pods/ephemeralcontainers'], operations: ['CREATE', 'UPDATE'] }],
  policy: () => ({
    variables: [
      { name: 'marks', expression: 'namespaceObject.metadata.?labels.orValue({})' },
      { name: 'first', expression: `${first} in variables.marks ? int(variables.marks[${first}]) : ${none}` },
      { name: 'spec', expression: 'dyn(object).?spec.orValue({})' },
      { name: 'unchanged', expression: 'oldObject != null && dyn(oldObject).?spec.orValue({}) == variables.spec' },
      { name: 'user', expression: `variables.spec.?securityContext.?runAsUser.orValue(${none})` },
      { name: 'containers', expression: lists.map(list => `variables.spec.?${list}.orValue([])`).join(' + ') },
    ],
    validation: {
      expression: [
        `variables.unchanged || (variables.first != ${none} && variables.spec.?hostUsers.orValue(true)`,
        ` && (${isInRange('variables.user')} || (variables.user == ${none} && request.operation == 'UPDATE'))`,
        ` && variables.containers.all(c, !c.?securityContext.?runAsUser.hasValue() || ${isInRange('c.securityContext.runAsUser')}))`,
      ].join(''),
      messageExpression: [
        `variables.first == ${none} ? 'this namespace has no range of user ids yet: the Tenant gives it one; try again in a moment' :`,
        ` 'securityContext.runAsUser must be from 1 to ${userRangeSize - 1} (it is moved into the range of this namespace) or from '`,
        ` + string(variables.first) + ' to ' + string(variables.first + ${userRangeSize - 1}) + ', in the pod and in each container,`,
        " and hostUsers: false is not possible: change or omit these fields'",
      ].join(''),
    },
  }),
}
