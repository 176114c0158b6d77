// Only the broker and platform administrators write Tenants: a Tenant owns namespaces and roles, and deleting it deletes them.
import { tenant } from '../../../api/tenancy/tenant.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from './writers.ts'

const message = 'only the platform and platform administrators write Tenants: an owner onboards the GitHub account to create one'

/** The broker and platform administrators write; controllers and Kubernetes' reapers maintain. */
export const tenantWriters: Rule = {
  name: 'tenant-writers',
  stops: 'giving oneself roles in a namespace, or deleting an Installation by deleting what owns it',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [{ group: tenant.group, resources: [tenant.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  ...onlyWrittenBy(({ brokers }) => brokers, message),
}
