// Attaching to a pod: to those of one's own commands, whoever else may run commands in the namespace and whatever grants are
// there. The API server does not show the pod to admission; its name proves whose it is, because the rule `task-names` lets
// nobody else make it (docs/adr/0074-a-shell-is-a-pod-of-ones-own.md).
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-connect-attach-of-pod
import { taskNamePrefix, taskNamePrefixOf } from '../../../api/task-names.ts'
import type { Rule } from '../../rule.ts'
import { isPersonExpression, ownPrefixExpression } from './task-names.ts'

const message = `attach only to pods of your own sekisho run and sekisho shell, whose names begin with ${taskNamePrefix}<your id on GitHub>-; kubectl logs shows what other pods write`

/** For everybody but platform admins. */
export const podAttach: Rule = {
  name: 'pod-attach',
  stops: 'reading and typing in the shell of another person, or in a pod that holds a GitHub token',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['pods/attach'], operations: ['CONNECT'] }],
  check({ name, username }) {
    const own = taskNamePrefixOf(username)
    return own !== undefined && name?.startsWith(own) === true ? undefined : message
  },
  policy: () => ({
    variables: [],
    validation: {
      expression: `${isPersonExpression} && dyn(request).?name.orValue('').startsWith(${ownPrefixExpression})`,
      message,
    },
  }),
}
