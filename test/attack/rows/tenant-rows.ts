// Attacks on Tenants.
import { clusterAdministrator, dave, garbageCollector, impostor, platform, platformAdministrator } from '../identities.ts'
import { tenant } from '../objects.ts'
import { patch, post, type Row, remove } from './row.ts'

const tenants = '/apis/tenancy.sekisho.dev/v1alpha1/tenants'
export const tenantRows: readonly Row[] = [
  ...[dave, clusterAdministrator, impostor].flatMap(as => [
    post(`${as.user} creates a Tenant`, as, tenants, tenant('mine'), 'tenant-writers'),
    remove(`${as.user} deletes a Tenant`, as, `${tenants}/acme`, 'tenant-writers'),
  ]),
  patch('dave gives himself a role', dave, `${tenants}/acme`, { spec: { roles: [] } }, 'tenant-writers'),
  patch('dave writes a Tenant’s status', dave, `${tenants}/acme/status`, { status: { namespace: 'x' } }, 'tenant-writers'),
  post('the platform creates a Tenant', platform, tenants, tenant('mine'), 'allowed'),
  post('a platform administrator creates a Tenant', platformAdministrator, tenants, tenant('mine'), 'allowed'),
  patch('a platform administrator changes roles', platformAdministrator, `${tenants}/acme`, { spec: { roles: [] } }, 'allowed'),
  patch('the garbage collector changes roles', garbageCollector, `${tenants}/acme`, { spec: { roles: [] } }, 'tenant-writers'),
]
