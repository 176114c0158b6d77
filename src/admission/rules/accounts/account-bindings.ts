// Rights for the ServiceAccount of an Application: it has none in the Kubernetes API, and nobody of a tenant gives it any. It is
// an identity for the token desk alone.
import { applicationAccountPrefix } from '../../../api/application-account.ts'
import { type JsonObject, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { celText, type Rule } from '../../rule.ts'

const message = `a RoleBinding must not name a ServiceAccount ${applicationAccountPrefix}…: pods of Applications have no rights in the Kubernetes API`
/** The user name of such an account in whatever namespace, as a regular expression. */
const userPattern = `^system:serviceaccount:[^:]+:${applicationAccountPrefix}`

function isAccount(subject: JsonObject): boolean {
  const name = textAt(subject, 'name') ?? ''
  return subject['kind'] === 'ServiceAccount' ? name.startsWith(applicationAccountPrefix) : new RegExp(userPattern).test(name)
}

/** The subjects as they will be: a binding that is older than the rule can be deleted. */
export const accountBindings: Rule = {
  name: 'account-bindings',
  stops: 'giving the pods of an Application rights in the Kubernetes API by the ServiceAccount that the platform made for them',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches: [{ group: 'rbac.authorization.k8s.io', resources: ['rolebindings'], operations: ['CREATE', 'UPDATE'] }],
  check: ({ object }) => (objectsAt(object, 'subjects').some(isAccount) ? message : undefined),
  policy: () => ({
    variables: [],
    validation: {
      expression: `!dyn(object).?subjects.orValue([]).exists(s, s.kind == 'ServiceAccount' ? s.name.startsWith(${celText(applicationAccountPrefix)}) : s.name.matches(${celText(userPattern)}))`,
      message,
    },
  }),
}
