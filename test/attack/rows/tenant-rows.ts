// Attacks on Tenants.
import { broker, clusterAdministrator, dave, garbageCollector, impostor, platformAdministrator } from '../identities.ts'
import { tenant } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('tenant-writers')
const refusedStatus = expecting('status-writers')
const tenants = '/apis/tenancy.sekisho.dev/v1alpha1/tenants'
export const tenantRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refused.post(`${as.user} creates a Tenant`, as, tenants, tenant('mine')),
    refused.remove(`${as.user} deletes a Tenant`, as, `${tenants}/acme`),
  ]),
  refused.patch('dave gives himself a role', dave, `${tenants}/acme`, { spec: { roles: [] } }),
  refusedStatus.patch('dave writes a Tenant’s status', dave, `${tenants}/acme/status`, { status: { namespace: 'x' } }),
  allowed.post('the broker creates a Tenant', broker, tenants, tenant('mine')),
  allowed.post('a cluster administrator creates a Tenant', clusterAdministrator, tenants, tenant('mine')),
  allowed.post('a platform administrator creates a Tenant', platformAdministrator, tenants, tenant('mine')),
  allowed.patch('a platform administrator changes roles', platformAdministrator, `${tenants}/acme`, { spec: { roles: [] } }),
  refused.patch('the garbage collector changes roles', garbageCollector, `${tenants}/acme`, { spec: { roles: [] } }),
]
