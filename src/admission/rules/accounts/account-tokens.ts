// Tokens of the ServiceAccounts of Applications: only a node makes them, for the pods that it runs (the admission plugin
// NodeRestriction compares). A token that a person makes for such a pod would be as good at the token desk as the pod's own.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/node/
import { applicationAccountPrefix } from '../../../api/application-account.ts'
import { celText, type Rule } from '../../rule.ts'

const message = `tokens of ServiceAccounts ${applicationAccountPrefix}… are for the pods of their Applications: a pod finds its own in /var/run/sekisho/token`
const nodes = 'system:node:'

export const accountTokens: Rule = {
  name: 'account-tokens',
  stops: 'making a token of the ServiceAccount of an Application, with which the token desk would take one for its pod',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['serviceaccounts/token'], operations: ['CREATE'] }],
  check: ({ name, username }) =>
    username.startsWith(nodes) || name?.startsWith(applicationAccountPrefix) !== true ? undefined : message,
  policy: () => ({
    variables: [],
    validation: {
      expression: `request.userInfo.username.startsWith(${celText(nodes)}) || !dyn(request).?name.orValue('').startsWith(${celText(applicationAccountPrefix)})`,
      message,
    },
  }),
}
