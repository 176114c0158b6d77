// Who has which role in a tenant's namespace follows from its Tenant alone. RBAC keeps people from giving rights that they do not
// have; whoever holds a built-in role there could still hand it on, to people whom the tenant does not know and whom no team
// removes.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
import { sameJson } from '../../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message =
  'Roles and RoleBindings in namespaces of tenants belong to the platform, which makes them from spec.roles of the Tenant: an owner or a platform admin changes it'

/** The fields that say what is allowed to whom. */
const decisive = ['rules', 'roleRef', 'subjects'] as const

function isMetadataOnly({ operation, object, oldObject }: AdmissionRequest): boolean {
  return operation === 'UPDATE' && decisive.every(field => sameJson(object?.[field], oldObject?.[field]))
}

/** For everybody but the controllers, platform admins, and Kubernetes' reapers. What ours may bind, `own-role-bindings` says. */
export const roleWriters: Rule = {
  name: 'role-writers',
  stops: 'handing on rights in a tenant’s namespace to people and machines that its Tenant does not name',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  exempts: reaping,
  matches: [
    { group: 'rbac.authorization.k8s.io', resources: ['roles', 'rolebindings'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
  ],
  // The platform and the end of a namespace do not wait for the webhook.
  webhookCondition: ({ controllers, reapers }) => ({
    name: 'not-by-the-platform',
    expression: `!(request.userInfo.username in ${celList(controllers)} || (request.operation == 'DELETE' && request.userInfo.username in ${celList(reapers)}))`,
  }),
  check(request, { controllers, reapers }) {
    const { username, operation } = request
    if (controllers.includes(username)) return undefined
    return reapers.includes(username) && (operation === 'DELETE' || isMetadataOnly(request)) ? undefined : message
  },
  policy: ({ controllers, reapers }) => ({
    variables: [
      {
        name: 'metadataOnly',
        expression: `request.operation == 'UPDATE' && ${decisive.map(field => `dyn(object).?${field} == dyn(oldObject).?${field}`).join(' && ')}`,
      },
    ],
    validation: {
      expression: `request.userInfo.username in ${celList(controllers)} || (request.userInfo.username in ${celList(reapers)} && (request.operation == 'DELETE' || variables.metadataOnly))`,
      message,
    },
  }),
}
