// Tenants are written by the broker and by platform administrators: a Tenant owns namespaces and roles, and deleting it deletes them.
import { tenant } from '../../api/tenancy/tenant.ts'
import { celList, type Rule } from '../rule.ts'
import { isInGroup, isInGroupExpression, mayMaintain, mayMaintainExpression, metadataOnlyVariable } from './writers.ts'

const message =
  'Tenants are made by the platform when an owner onboards an account; only platform administrators change them by hand'

export const tenantWriters: Rule = {
  name: 'tenant-writers',
  stops: 'somebody who gives himself roles in a namespace, or deletes an Installation by deleting what owns it',
  scope: 'everywhere',
  matches: [
    { group: tenant.group, resources: [tenant.plural, `${tenant.plural}/*`], operations: ['CREATE', 'UPDATE', 'DELETE'] },
  ],
  check: (request, identities) =>
    identities.brokers.includes(request.username) ||
    isInGroup(request, identities.platformAdminGroups) ||
    mayMaintain(request, identities)
      ? undefined
      : message,
  policy: identities => ({
    variables: [metadataOnlyVariable],
    validation: {
      expression: `request.userInfo.username in ${celList(identities.brokers)} || ${isInGroupExpression(identities.platformAdminGroups)} || ${mayMaintainExpression(identities)}`,
      message,
    },
  }),
}
