// The ServiceAccounts of Applications are the platform's: it makes one where a RepositoryGrant names the Application, and removes
// it. Whoever could make one first, give it Secrets or delete it would decide what runs under it.
import { applicationAccountPrefix } from '../../../api/application-account.ts'
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'

const message = `ServiceAccounts whose names begin with ${applicationAccountPrefix} are the platform's, which makes one where a RepositoryGrant names an Application: choose another name`

function isReserved(object: JsonObject | undefined): boolean {
  const metadata = objectAt(object, 'metadata')
  return [textAt(metadata, 'name'), textAt(metadata, 'generateName')].some(name => name?.startsWith(applicationAccountPrefix))
}

export const accountWriters: Rule = {
  name: 'account-writers',
  stops: 'making the ServiceAccount of an Application before the platform does, giving it Secrets, or deleting it',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: { kubernetesPrefixes: { does: 'deletes it with its Application or its namespace', follows: [] } },
  matches: [{ group: '', resources: ['serviceaccounts'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check(request, identities) {
    if (isKubernetes(request, identities) || identities.controllers.includes(request.username)) return undefined
    return isReserved(request.object) || isReserved(request.oldObject) ? message : undefined
  },
  policy: identities => ({
    variables: [
      {
        name: 'names',
        expression:
          "[object, oldObject].filter(o, o != null).map(o, [dyn(o).metadata.?name.orValue(''), dyn(o).metadata.?generateName.orValue('')])",
      },
    ],
    validation: {
      expression: [
        `request.userInfo.username in ${celList(identities.controllers)}`,
        isKubernetesExpression(identities),
        `!variables.names.exists(pair, pair.exists(n, n.startsWith(${celText(applicationAccountPrefix)})))`,
      ].join(' || '),
      message,
    },
  }),
}
