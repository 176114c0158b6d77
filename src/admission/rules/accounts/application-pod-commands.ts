// Commands in the pods of Applications that a RepositoryGrant names. Whoever runs one there has the token of the grant, so it is
// for those who may change the Application, and could put the same command into its image. The API server does not show the pod
// to admission when somebody connects to it: a policy only, with the pods of the namespace as its parameters.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
import { applicationAccountPrefix } from '../../../api/application-account.ts'
import { application } from '../../../api/apps/application.ts'
import { pods } from '../../../api/builtin/index.ts'
import { celText, type PolicyRule } from '../../rule.ts'

const account = "params.spec.?serviceAccountName.orValue('')"
const isUnder = `params.metadata.name == dyn(request).?name.orValue('') && ${account}.startsWith(${celText(applicationAccountPrefix)})`
const named = `${account}.substring(${applicationAccountPrefix.length})`
const mayChange = `authorizer.group(${celText(application.group)}).resource(${celText(application.plural)}).namespace(request.namespace).name(${named}).check('update').allowed()`

/** Attaching is for pods of one's own commands anyway (`pod-attach`), which never run under such an account. */
export const applicationPodCommands: PolicyRule = {
  name: 'application-pod-commands',
  stops: 'taking a GitHub token out of the pod of an Application, by somebody who may not change that Application',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches: [
    { group: '', resources: ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy'], operations: ['CONNECT'] },
    { group: '', resources: ['pods/ephemeralcontainers'], operations: ['UPDATE'] },
  ],
  param: pods,
  policy: () => ({
    variables: [],
    validation: {
      expression: `!(${isUnder}) || ${mayChange}`,
      messageExpression: `'pod ' + params.metadata.name + ' can get GitHub tokens under a RepositoryGrant for Application ' + ${named} + ': only who may change that Application reaches into it'`,
    },
  }),
}
