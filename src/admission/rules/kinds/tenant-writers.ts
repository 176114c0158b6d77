// Only the broker and platform administrators write Tenants: a Tenant owns namespaces and roles, and deleting it deletes them.
import { tenant } from '../../../api/tenancy/tenant.ts'
import { celList, type Rule } from '../../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable } from './writers.ts'

const message = 'only the platform and platform administrators write Tenants: an owner onboards the GitHub account to create one'

/** The broker and platform administrators write; controllers and Kubernetes' reapers maintain. */
export const tenantWriters: Rule = {
  name: 'tenant-writers',
  stops: 'giving oneself roles in a namespace, or deleting an Installation by deleting what owns it',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [{ group: tenant.group, resources: [tenant.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check: (request, identities) =>
    identities.brokers.includes(request.username) || mayMaintain(request, identities) ? undefined : message,
  policy: identities => ({
    variables: [metadataOnlyVariable],
    validation: {
      expression: `request.userInfo.username in ${celList(identities.brokers)} || ${mayMaintainExpression(identities)}`,
      message,
    },
  }),
}
